/** Processor time that some work takes, in ms: on a busy machine it is the same, unlike the time on the clock. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
