/** Zones of the IANA database, as the runtime knows them. */

const formatIn = (timeZone: string) =>
  new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })

/** Fixed offsets such as `+01:00` are no zones: who writes one forgets that summer comes. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    formatIn(name)
    return true
  } catch {
    return false
  }
}

/** The zone of this machine; UTC where it has none that is known. */
export function machineTimeZone(): string {
  // Undefined where TZ holds something that is no zone.
  const name: string | undefined = new Intl.DateTimeFormat().resolvedOptions().timeZone
  return name && isTimeZone(name) ? name : 'UTC'
}

/** How far the clocks of a zone are ahead of UTC at an instant, in milliseconds. */
export function offsetsOf(timeZone: string): (atMs: number) => number {
  const format = formatIn(timeZone)
  return (atMs) => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(format.format(atMs)) ?? []
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -ms : ms
  }
}
