/**
 * Looks for files in the home that another user could have made or could change, without changing anything. A directory
 * with mode 700 keeps everybody else out of all that is below it, so only the first level is looked at, unless the home
 * itself was open for writing.
 */
import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type HomeFinding =
  /** It belongs to another user, who may have made it. */
  | { kind: 'foreign'; path: string; uid: number }
  /** It is a link to something that another user can change. */
  | { kind: 'unsafe-link'; path: string; target: string }
  /** Other users may read or write it, or could if the home were open. */
  | { kind: 'open'; path: string; mode: number }
  /** A directory above the home, in which another user can replace the home. */
  | { kind: 'replaceable'; path: string }

export const OPEN_TO_OTHERS = 0o077
const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000
const ROOT = 0

/** The home must exist. */
export function inspectHome(home: string): HomeFinding[] {
  const real = realpathSync(home)
  const own = process.geteuid?.() ?? ROOT
  const { uid, mode } = statSync(real)
  if (uid !== own) return [{ kind: 'foreign', path: home, uid }]
  const isOpen = (mode & OPEN_TO_OTHERS) !== 0
  return [
    ...(isOpen ? [{ kind: 'open', path: home, mode: mode & 0o777 } as const] : []),
    ...inspectEntries(real, own, (mode & WRITABLE_BY_OTHERS) !== 0),
    ...inspectAbove(dirname(real), own),
  ]
}

function inspectEntries(dir: string, own: number, deep: boolean): HomeFinding[] {
  return readdirSync(dir).flatMap((name): HomeFinding[] => {
    const path = join(dir, name)
    const info = lstatSync(path, { throwIfNoEntry: false })
    if (!info) return []
    if (info.uid !== own) return [{ kind: 'foreign', path, uid: info.uid }]
    if (info.isSymbolicLink()) return inspectLink(path, own)
    const isOpen = (info.mode & OPEN_TO_OTHERS) !== 0
    return [
      ...(isOpen ? [{ kind: 'open', path, mode: info.mode & 0o777 } as const] : []),
      ...(deep && info.isDirectory() ? inspectEntries(path, own, deep).filter(isForeign) : []),
    ]
  })
}

const isForeign = ({ kind }: HomeFinding) => kind === 'foreign'

/** A person may link a file of their own to here, or one of the system. */
function inspectLink(path: string, own: number): HomeFinding[] {
  const info = statSync(path, { throwIfNoEntry: false })
  if (!info) return []
  const isSafe = (info.uid === own || info.uid === ROOT) && (info.mode & WRITABLE_BY_OTHERS) === 0
  return isSafe ? [] : [{ kind: 'unsafe-link', path, target: realpathSync(path) }]
}

/** In a directory with the sticky bit, such as /tmp, only the owner of something can replace it. */
function inspectAbove(dir: string, own: number): HomeFinding[] {
  const { uid, mode } = statSync(dir)
  const others = (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0
  const found: HomeFinding[] =
    others || (uid !== own && uid !== ROOT) ? [{ kind: 'replaceable', path: dir }] : []
  return dirname(dir) === dir ? found : [...found, ...inspectAbove(dirname(dir), own)]
}

/** Says what is wrong, and what a person can do about it. Null: Reprise mends it by itself. */
export function describeFinding(finding: HomeFinding): { says: string; hint: string } | null {
  const { path } = finding
  switch (finding.kind) {
    case 'foreign':
      return {
        says: `${path} belongs to another user (uid ${finding.uid})`,
        hint: `Run as that user, or look at it and remove it, or make it yours: chown -R "$(id -u)" ${path}`,
      }
    case 'unsafe-link':
      return {
        says: `${path} is a link to ${finding.target}, which other users can change`,
        hint: `Replace the link by a file or directory of your own, or run: chmod go-w ${finding.target}`,
      }
    case 'replaceable':
      return {
        says: `other users can replace the home, because they can write to ${path}`,
        hint: `Run: chmod go-w ${path}, or set REPRISE_HOME to another directory.`,
      }
    case 'open':
      return null
  }
}
