/** Times as people read them: local, never as ISO 8601 in UTC. `--json` prints the ISO form of the API instead. */

/** Local time of day; with the date if it is not today. */
export function formatTime(at: string, now = new Date()): string {
  const date = new Date(at)
  const time = timeOfDay(date)
  if (date.toDateString() === now.toDateString()) return time
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}

/** Local time of day with milliseconds, for logs. */
export function formatLogTime(at: string): string {
  const date = new Date(at)
  return `${timeOfDay(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

const STAMP = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z/g

/** Replaces the ISO times in a message of the daemon by local ones. */
export function withLocalTimes(message: string, now = new Date()): string {
  return message.replaceAll(STAMP, (at) => formatTime(at, now))
}

const two = (value: number) => String(value).padStart(2, '0')

const timeOfDay = (date: Date) => [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
