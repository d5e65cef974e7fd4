/** Paths as text. The file system is asked only through the functions that are handed in. */

export interface PathFacts {
  home: string
  /** The path with all symbolic links resolved, as far as it exists; the rest is kept. */
  realPath: (path: string) => string
  exists: (path: string) => boolean
}

/** An absolute path without `.`, `..` and repeated slashes. */
export function normalize(path: string): string {
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') kept.pop()
    else kept.push(part)
  }
  return `/${kept.join('/')}`
}

export const GLOB = /[*?[]/

const LONGEST_PATH = 4096

/** Stands for a directory that is not known. */
const SOMEWHERE = '/…'

/** A written path, made absolute. The home of another user is taken to be in /home. */
export function absolute(path: string, start: string, home: string): string {
  const written = /^~(\/|$)/.test(path) ? home + path.slice(1) : path.replace(/^~/, '/home/')
  if (written.startsWith('/')) return written
  return written === '' ? start : `${start.replace(/\/+$/, '')}/${written}`
}

/**
 * Every place that a written path may mean, as it is written and with symbolic links resolved. `cwds` are the
 * directories of a plain command, `start` is the one in which the text starts.
 */
export function placesOf(
  path: string,
  cwds: readonly (string | null)[],
  start: string,
  { home, realPath }: PathFacts,
): string[] {
  // No file has a longer path.
  if (path.length > LONGEST_PATH) return []
  const places = new Set<string>()
  for (const cwd of /^[/~]/.test(path) ? [''] : cwds) {
    if (cwd === null) {
      places.add(normalize(`${SOMEWHERE}/${path}`))
      continue
    }
    const raw = absolute(path, absolute(cwd, start, home), home)
    places.add(normalize(raw))
    places.add(resolved(raw, realPath))
  }
  return [...places]
}

/** Links are resolved in the part before the first `*`. */
function resolved(raw: string, realPath: PathFacts['realPath']): string {
  const glob = raw.search(GLOB)
  const slash = glob === -1 ? -1 : raw.lastIndexOf('/', glob)
  if (slash === -1) return normalize(realPath(raw))
  return normalize(`${realPath(raw.slice(0, slash) || '/')}/${raw.slice(slash)}`)
}

/** What a process has as its root, as its directory or open may be anything, also if the path only passes through. */
export function isDetour(path: string): boolean {
  return /(^|\/)proc\/+[^/]+\/+(task\/+[^/]+\/+)?(root|cwd)(\/|$)|(^|\/)(proc\/+[^/]+\/+(task\/+[^/]+\/+)?|dev\/+)fd\/+[^/]+\/+./.test(
    path,
  )
}

export function isBelow(path: string, dir: string): boolean {
  return path === dir || dir === '/' || path.startsWith(`${dir}/`)
}
