/**
 * Decides whether the present executable of an agent may continue a session that an earlier installation wrote.
 *
 * A newer version may: agents read the sessions of their older versions, and one that does not refuses the resume,
 * after which the turn starts a new session. These may not: another command, a version older than the one that wrote
 * the session (it may misread the file without an error), and one that lacks a capability of the version that wrote it.
 */

export interface RuntimeFacts {
  /** The fingerprint of command and capabilities. It is only shown to people; the parts are compared. */
  id: string
  /**
   * The path before symlinks are resolved, because installers put each version into its own folder. null: not recorded.
   */
  command: string | null
  version: string | null
  /** The names of its capabilities. */
  can: readonly string[]
}

/**
 * Why the session must not be resumed, as a sentence for people; null if it may be, or if its runtime was not recorded.
 */
export function findRuntimeChange(wrote: RuntimeFacts | null, now: RuntimeFacts): string | null {
  if (wrote === null) return null
  if (wrote.command !== null && now.command !== null && wrote.command !== now.command) {
    return `The session was written by ${wrote.command}; the agent is ${now.command} now`
  }
  if (isOlder(now.version, wrote.version)) {
    return `The session was written by version ${wrote.version}; the agent is version ${now.version} now, which is older`
  }
  const lost = wrote.can.filter((capability) => !now.can.includes(capability))
  if (lost.length === 0) return null
  return `The agent lacks capabilities that the session was written with: ${lost.join(', ')}`
}

/** Compares the numbers of two versions. If one has no numbers, neither is older. */
export function isOlder(version: string | null, than: string | null): boolean {
  const [a, b] = [numbersOf(version), numbersOf(than)]
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [left, right] = [a[i] ?? 0, b[i] ?? 0]
    if (left !== right) return left < right
  }
  return false
}

function numbersOf(version: string | null): number[] {
  return (/\d+(\.\d+)+/.exec(version ?? '')?.[0] ?? '').split('.').filter(Boolean).map(Number)
}
