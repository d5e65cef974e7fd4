/** Durations, ages, money, tokens and sizes as people read them. */
export { formatBytes, formatSize } from '../../contract/quantity.ts'

import prettyMs from 'pretty-ms'

/** The two largest units, such as `1h 5m`; below a minute with one decimal. */
export function formatDuration(ms: number | null): string {
  if (ms === null) return '–'
  if (ms < 60_000) return prettyMs(ms, { keepDecimalsOnWholeSeconds: true })
  return prettyMs(ms, { unitCount: 2, secondsDecimalDigits: 0, hideYear: true })
}

/** The two largest units, in whole seconds. For something that is redrawn every second. */
export function formatElapsed(ms: number): string {
  return inSeconds(ms, 2)
}

/** The largest unit only, such as `3d`. */
export function formatAge(at: string, now: Date): string {
  return inSeconds(Math.max(0, now.getTime() - Date.parse(at)), 1)
}

function inSeconds(ms: number, unitCount: number): string {
  return ms < 1000 ? '0s' : prettyMs(Math.floor(ms / 1000) * 1000, { unitCount, hideYear: true })
}

/** `in 5m` or `5m ago`; `now` if it is less than a second away. */
export function formatDistance(at: string, now: Date): string {
  const ms = Date.parse(at) - now.getTime()
  if (Math.abs(ms) < 1000) return 'now'
  const far = formatElapsed(Math.abs(ms))
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

/** `1 run`, `2 runs`. */
export function count(amount: number, noun: string, nouns = `${noun}s`): string {
  return `${amount} ${amount === 1 ? noun : nouns}`
}
