/**
 * Checks whether a keeper works in this attempt's folder. In a copy of a home, the stored process may be alive but
 * belong to the original home and its daemon. Ending it, or waiting for its output, would be wrong.
 *
 * Paths cannot answer this: a home may have several paths through links, may be renamed, and a copy may be put where
 * the original was. So the keeper is recognised by its log file, which it keeps open from its start (launch.ts) to its
 * end. The descriptors cannot be read all at once, and a shell moves its stderr to another one while a command has a
 * stderr of its own. So the log is also open on a descriptor that never moves, which is looked at last: it is open
 * before stderr is first moved (keeper.sh).
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type AttemptDir, KEEPER_LOG } from './attempt-dir.ts'
import type { ProcessIdentity } from './proc.ts'

const FIXED_DESCRIPTOR = '9'

/** If the file cannot be inspected, the answer is yes, so that no agent of ours is lost. */
export function keepsFolder({ pid }: ProcessIdentity, dir: AttemptDir): boolean {
  try {
    const log = statSync(join(dir.path, KEEPER_LOG), { bigint: true })
    return [...readdirSync(`/proc/${pid}/fd`), FIXED_DESCRIPTOR].some((fd) => {
      const open = statSync(`/proc/${pid}/fd/${fd}`, { bigint: true, throwIfNoEntry: false })
      return open?.ino === log.ino && open.dev === log.dev
    })
  } catch {
    return true
  }
}
