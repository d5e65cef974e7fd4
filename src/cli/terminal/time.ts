/** Times as people read them: local, never as ISO 8601 in UTC. `--json` prints the ISO form of the API instead. */

/** By the clock on the wall here; with the day if it is another one. */
export function formatTime(at: string, now = new Date()): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  if (date.toDateString() === now.toDateString()) return time
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}
