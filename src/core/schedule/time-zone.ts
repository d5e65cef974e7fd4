/** Time zones of the IANA database that the JavaScript runtime knows. */

const formatIn = (timeZone: string) =>
  new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })

/** Fixed offsets such as `+01:00` are refused, because they would be wrong during daylight saving time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    formatIn(name)
    return true
  } catch {
    return false
  }
}

/** The zone of this machine; UTC if it is not known. */
export function machineTimeZone(): string {
  // Undefined if the variable TZ is not a valid zone.
  const name: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return name && isTimeZone(name) ? name : 'UTC'
}

/** Returns a function that gives the zone's offset from UTC at an instant, in milliseconds. */
export function offsetsOf(timeZone: string): (atMs: number) => number {
  const format = formatIn(timeZone)
  return (atMs) => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(format.format(atMs)) ?? []
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -ms : ms
  }
}
