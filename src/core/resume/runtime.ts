/**
 * Whether the executable that is there now may continue a session that another state of it wrote.
 *
 * An upgrade may: agents read what their older versions wrote, and if one does not, it refuses and the turn starts
 * fresh. What may not: another command, a version older than the one that wrote the session (it may not understand the
 * file, and would not say so), and one that can do less than what the session was written with.
 */

export interface RuntimeFacts {
  /** The fingerprint: command and capabilities. Shown to people; the parts are what is compared. */
  id: string
  /** As it was found, before links were followed: installers put each version into a folder of its own. null: not recorded. */
  command: string | null
  version: string | null
  /** The names of what it can do. */
  can: readonly string[]
}

/** Why it may not, as a sentence for people; null if it may. Of a session whose runtime was not recorded nothing is known against it. */
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
  return `The agent can no longer do what the session was written with: ${lost.join(', ')}`
}

/** By their numbers; versions that have none cannot be compared, and neither is older. */
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
