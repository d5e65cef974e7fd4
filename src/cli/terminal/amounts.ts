/** Durations, ages, money and tokens as people read them. */

const STEPS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
] as const

export function formatDuration(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`
  const first = STEPS.findIndex(([size]) => ms >= size)
  const [size, unit] = STEPS[first] ?? [1000, 's']
  const [nextSize, nextUnit] = STEPS[first + 1] ?? [1000, 's']
  const rest = Math.floor((ms % size) / nextSize)
  return `${Math.floor(ms / size)}${unit}${rest > 0 ? ` ${rest}${nextUnit}` : ''}`
}

export function formatAge(at: string, now: Date): string {
  const ms = Math.max(0, now.getTime() - Date.parse(at))
  const [size, unit] = STEPS.find(([step]) => ms >= step) ?? [1000, 's']
  return `${Math.floor(ms / size)}${unit}`
}

/** `in 5m`, `5m ago`; of what is less than a second away, `now`. */
export function formatDistance(at: string, now: Date): string {
  const ms = Date.parse(at) - now.getTime()
  if (Math.abs(ms) < 1000) return 'now'
  const far = formatDuration(Math.floor(Math.abs(ms) / 1000) * 1000).replace(/\.0s$/, 's')
  return ms > 0 ? `in ${far}` : `${far} ago`
}

export function formatCost(usd: number | null, estimated = false): string {
  if (usd === null) return '–'
  return `${estimated ? '~' : ''}$${usd.toFixed(usd !== 0 && usd < 1 ? 4 : 2)}`
}

export function formatTokens(count: number): string {
  if (count < 1000) return String(count)
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

export function formatBytes(bytes: number): string {
  const gib = bytes / 2 ** 30
  return gib >= 1 ? `${gib.toFixed(1)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`
}

/** Of a file: from a byte to gigabytes. */
export function formatSize(bytes: number): string {
  if (bytes < 2 ** 10) return `${bytes} B`
  return bytes < 2 ** 20 ? `${Math.round(bytes / 2 ** 10)} KiB` : formatBytes(bytes)
}

/** `1 run`, `2 runs`. */
export function count(amount: number, noun: string, nouns = `${noun}s`): string {
  return `${amount} ${amount === 1 ? noun : nouns}`
}
