/**
 * Times for people. Relative times are computed against the daemon's clock: what the browser's clock says is corrected
 * by the difference that was last seen.
 */

let aheadMs = 0

/** Called with the daemon's time whenever an answer contains it. */
export function noteDaemonTime(at: string): void {
  const seen = Date.parse(at) - Date.now()
  // Small differences are the time that the answer took.
  aheadMs = Math.abs(seen) > 5000 ? seen : 0
}

export const nowMs = () => Date.now() + aheadMs

export function formatSpan(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 9.95)
    return `${seconds < 0.05 || Number.isInteger(seconds) ? seconds.toFixed(0) : seconds.toFixed(1)}s`
  if (seconds < 60) return `${Math.round(seconds)}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10 && Math.round(seconds % 60) > 0) return `${minutes}m ${Math.floor(seconds % 60)}s`
  if (minutes < 60) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours}h` : `${hours}h ${minutes % 60}m`
  const days = Math.floor(hours / 24)
  return hours % 24 === 0 || days > 6 ? `${days}d` : `${days}d ${hours % 24}h`
}

/** Coarser, for what is long ago. */
export function formatAge(ms: number): string {
  const seconds = ms / 1000
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${Math.floor(seconds)}s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ago`
  return `${Math.floor(seconds / 86_400)}d ago`
}

export const formatDistance = (at: string, now: number): string => {
  const ms = Date.parse(at) - now
  return ms > 0 ? `in ${formatSpan(ms < 60_000 ? Math.ceil(ms / 1000) * 1000 : ms)}` : formatAge(-ms)
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const clockSeconds = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

export const formatExact = (at: string) => exact.format(new Date(at))
export const formatClockSeconds = (at: string) => clockSeconds.format(new Date(at))
export const formatDay = (at: string | Date) => day.format(new Date(at))

/** The time of day; with the day if it is not today. */
export function formatClock(at: string, now = nowMs()): string {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date(now).toDateString()
  return isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`
}

export function startOfToday(): string {
  const date = new Date()
  date.setHours(0, 0, 0, 0)
  return date.toISOString()
}

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** Messages of the daemon contain times in UTC; people read the time of their clock. */
export const withLocalTimes = (text: string) => text.replaceAll(ISO, (at) => formatClock(at))
