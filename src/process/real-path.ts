import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const MOST_LINKS = 40

/** The path with all symbolic links resolved, as far as it exists; the rest is kept. */
export function realPath(path: string, links = MOST_LINKS): string {
  // Asked first whether it is there: an error that is thrown costs more than all the rest.
  const isThere = attempt(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined
  // `link/..` is beside what the link leads to; only the system's own knows that.
  const real = isThere ? attempt(() => realpathSync.native(path)) : undefined
  if (real !== undefined) return real
  const parent = dirname(path)
  if (parent === path) return path
  const below = realPath(parent, links)
  const here = join(below, basename(path))
  if (!isThere || links === 0) return here
  // A link to something that is not there: whoever writes to it makes that.
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
