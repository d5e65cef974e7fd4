/**
 * Durations and sizes as people write them: a number with a unit, `1.5h` or `8MiB`.
 * `undefined` means that the text is not one; the caller knows the setting and words the error.
 */
const MS_PER_UNIT = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const BYTES_PER_UNIT = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
} as const

export function parseDurationMs(text: string): number | undefined {
  return parseQuantity(text, MS_PER_UNIT)
}

export function parseSizeBytes(text: string): number | undefined {
  return parseQuantity(text, BYTES_PER_UNIT)
}

function parseQuantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, amount, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*$/.exec(text) ?? []
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined
  return amount === undefined || factor === undefined ? undefined : Math.round(Number(amount) * factor)
}

export function formatBytes(bytes: number): string {
  const gib = bytes / 2 ** 30
  return gib >= 1 ? `${gib.toFixed(1)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`
}

/** The size of a file, from bytes to gigabytes. */
export function formatSize(bytes: number): string {
  if (bytes < 2 ** 10) return `${bytes} B`
  return bytes < 2 ** 20 ? `${Math.round(bytes / 2 ** 10)} KiB` : formatBytes(bytes)
}
