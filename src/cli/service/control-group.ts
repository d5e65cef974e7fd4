/** Tells from the control group of a process whether it is part of the service that `reprise service install` sets up. */

/** `text` is that of /proc/PID/cgroup. null: it is not part of the service. */
export function serviceOf(text: string): 'user' | 'system' | null {
  const group = text.split('\n').find((line) => /\/reprise\.service(\/|$)/.test(line))
  if (group === undefined) return null
  return group.includes('/user.slice/') ? 'user' : 'system'
}
