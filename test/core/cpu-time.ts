/** The CPU time that some work takes, in ms. Unlike the elapsed time, it does not depend on how busy the machine is. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
