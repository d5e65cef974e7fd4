import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const MOST_LINKS = 40

/** Resolves all symlinks in the part of the path that exists and keeps the rest. */
export function realPath(path: string, links = MOST_LINKS): string {
  // Checked first, because a thrown error costs more than all the rest.
  const isThere = attempt(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined
  // Only the native call resolves `link/..` correctly, to the parent of the link's target.
  const real = isThere ? attempt(() => realpathSync.native(path)) : undefined
  if (real !== undefined) return real
  const parent = dirname(path)
  if (parent === path) return path
  const below = realPath(parent, links)
  const here = join(below, basename(path))
  if (!isThere || links === 0) return here
  // A dangling link: writing to it creates its target.
  const target = attempt(() => readlinkSync(here))
  if (target === undefined) return here
  return realPath(target.startsWith('/') ? target : `${below}/${target}`, links - 1)
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
