/**
 * The exit code of an agent in a sandbox of util-linux. `unshare` ends as its child did, but cannot end itself by SIGKILL: it
 * then exits with 1, as it does if it cannot make the sandbox, and says why. Neither says anything about the agent.
 */
const KILLED = 137
const NOT_STARTED = 126

export function exitCodeOf(code: number | null, stderr: string): number | null {
  const last = stderr.trimEnd().split('\n').at(-1) ?? ''
  if (code !== 1 || !last.startsWith('unshare: ')) return code
  return last.includes('sigprocmask') ? KILLED : NOT_STARTED
}
