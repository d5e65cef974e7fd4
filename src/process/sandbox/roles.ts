/** What the processes in a sandbox can do with a path of the host, and which path of the host they mean by one of theirs. */
import { normalize } from 'node:path'
import { type HostFiles, hostFiles } from './host-files.ts'
import { isWithin } from './paths.ts'
import { findPlaces, type Place, placeAround } from './places.ts'
import type { SandboxInput } from './sandbox.ts'

export interface SandboxRoles {
  /** Whether they can write or replace what is at this path of the host. */
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
  const innermost = (path: string): Place | undefined => {
    const found = around(path)
    return found?.role === 'private' ? undefined : found
  }
  return {
    canWrite: (path) => {
      const real = files.realPath(path)
      return privateAt(real) !== undefined || innermost(real)?.role === 'write'
    },
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
