/** Formats a duration with the units of the settings: `4h`, `1d 12h`, `30s`. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** Uses at most two units and rounds up, so that waiting for the shown time is always long enough. */
export function formatSpan(ms: number): string {
  const largest = UNITS.findIndex(([, size]) => ms >= size)
  if (largest === -1) return ms > 0 ? '1s' : '0s'
  const smallest = UNITS[Math.min(largest + 1, UNITS.length - 1)]?.[1] ?? 1000
  let rest = Math.ceil(ms / smallest) * smallest
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return parts.join(' ')
}
