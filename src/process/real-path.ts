import { readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const MOST_LINKS = 40

/** The path with all symbolic links resolved, as far as it exists; the rest is kept. */
export function realPath(path: string, links = MOST_LINKS): string {
  try {
    // `link/..` is beside what the link leads to; only the system's own knows that.
    return realpathSync.native(path)
  } catch {
    const parent = dirname(path)
    if (parent === path) return path
    const real = realPath(parent, links)
    const here = join(real, basename(path))
    // A link to something that is not there: whoever writes to it makes that.
    const target = links > 0 ? linkTarget(here) : undefined
    if (target === undefined) return here
    return realPath(target.startsWith('/') ? target : `${real}/${target}`, links - 1)
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
