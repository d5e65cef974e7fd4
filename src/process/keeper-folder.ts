/**
 * Whether a keeper works in this attempt's folder. In a copy of a home the stored process may well be alive: it belongs to
 * the home that was copied, and to the daemon that runs there. To end it, or to wait for what it prints, would be wrong.
 *
 * Paths cannot tell: a home has more than one through links, gets another one when it is renamed, and a copy may be put
 * where the original was. So the keeper is recognised by its log, which it has open from its start (launch.ts) to its end.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AttemptDir } from './attempt-dir.ts'
import type { ProcessIdentity } from './proc.ts'

export const KEEPER_LOG = 'keeper.log'

/** If the file cannot be looked at on either side, the answer is yes: an agent of ours must not be lost. */
export function keepsFolder({ pid }: ProcessIdentity, dir: AttemptDir): boolean {
  try {
    const log = statSync(join(dir.path, KEEPER_LOG), { bigint: true })
    // A shell gives its stderr another number while a command has one of its own.
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const open = statSync(`/proc/${pid}/fd/${fd}`, { bigint: true, throwIfNoEntry: false })
      return open?.ino === log.ino && open.dev === log.dev
    })
  } catch {
    return true
  }
}
