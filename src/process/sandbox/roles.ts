/** What the processes in a sandbox can do with a path of the host, and which path of the host they mean by one of theirs. */
import { readlinkSync } from 'node:fs'
import { basename, dirname, join, normalize, resolve } from 'node:path'
import { type HostFiles, hostFiles } from './host-files.ts'
import { isWithin } from './paths.ts'
import { findPlaces, placeAround } from './places.ts'
import type { SandboxInput } from './sandbox.ts'

export interface SandboxRoles {
  /** Whether they can write or replace what is at this path of the host, or a link that is followed on the way. */
  canWrite: (path: string) => boolean
  /** Whether they cannot see what is at this path of the host. */
  isHidden: (path: string) => boolean
  /** The path of the host that a path inside stands for. */
  toHost: (path: string) => string
}

export function rolesOf(input: SandboxInput, files: HostFiles = hostFiles): SandboxRoles {
  const { places } = findPlaces(input, files)
  const privates = places.filter(({ role }) => role === 'private')
  /** A private folder is elsewhere on the host, often in a hidden folder. */
  const privateAt = (path: string) => privates.findLast(({ source }) => isWithin(path, source))
  const around = (path: string) => placeAround(path, places)
  const isWritable = (path: string) => {
    const found = around(path)
    return privateAt(path) !== undefined || found?.role === 'write'
  }
  /** Follows one link after the other: whoever can replace one of them decides where the path leads. */
  const canReplace = (path: string, links = MOST_LINKS): boolean => {
    const here = join(files.realPath(dirname(path)), basename(path))
    if (isWritable(path) || isWritable(here)) return true
    const target = files.kindOf(here) === 'link' ? readLink(here) : null
    if (target === null) return false
    return links === 0 || canReplace(resolve(dirname(here), target), links - 1)
  }
  return {
    canWrite: (path) => canReplace(normalize(path)),
    isHidden: (path) => {
      const real = files.realPath(path)
      if (privateAt(real) !== undefined) return false
      const role = around(real)?.role
      return role === 'hide' || role === 'private'
    },
    toHost: (path) => {
      const clean = normalize(path)
      const at = around(clean)
      return at?.role === 'private' ? at.source + clean.slice(at.path.length) : clean
    },
  }
}

const MOST_LINKS = 40

/** null: it is no link any more. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
