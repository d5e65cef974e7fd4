/** A push by the broker, planned from the call of an agent. */

import { optionValues, type Reading } from '../../core/rules/arguments.ts'
import { parseGitPush } from '../../core/rules/git-push.ts'
import { pushArguments } from '../../core/rules/git-remote.ts'
import { openPrivateRepository, planPush } from '../../process/broker/push.ts'
import { folderOf, type Remotes } from '../../process/broker/remotes.ts'
import { findRepository, listObjectFolders } from '../../process/git/repository.ts'
import type { CallPlace } from './gate.ts'

export interface GitPushInput {
  reading: Reading
  cwd: string
  place: CallPlace
  /** null: the work directory was in no repository when the session began. */
  remotes: Remotes | null
  /** The folder of the broker's own repository. */
  repository: string
}

export type GitPushVerdict =
  | { ok: true; args: readonly string[]; env: Record<string, string>; after: string }
  | { ok: false; problem: string }

export function planGitPush({ reading, cwd, place, remotes, repository }: GitPushInput): GitPushVerdict {
  const refuse = (problem: string) => ({ ok: false as const, problem })
  const given = pushArguments(reading)
  if (!given) return refuse('only git push is run outside the sandbox')
  const parsed = parseGitPush(given)
  if (!parsed.ok) return refuse(parsed.problem)
  const elsewhere = reading.options.find(
    ({ name }) => !['-C', ...HARMLESS].includes(name) && name.startsWith('--git-dir'),
  )
  if (elsewhere) return refuse(`${elsewhere.name} is not supported`)
  const dir = optionValues(reading, '-C').reduce(
    (at, to) => place.toHost(to.startsWith('/') ? to : `${at}/${to}`),
    cwd,
  )
  const found = findRepository(dir)
  if (!found || !remotes) return refuse('there is no repository, or there was none when the session began')
  const objects = listObjectFolders(found)
  if (objects === null) return refuse('it is not clear from which folders the repository borrows objects')
  if ([found.commonDir, ...objects].some(place.isHidden))
    return refuse('the repository uses objects of a hidden folder')
  const plan = planPush(parsed.push, found, remotes)
  if (!plan.ok) return refuse(plan.problem)
  if (isReplaceable(plan.address, place))
    return refuse(`${plan.address} is in a folder that you can write, so its hooks could be yours`)
  const [first] = plan.tracking
  openPrivateRepository(repository, found, first && first.id.length > 40 ? 'sha256' : 'sha1')
  return {
    ok: true,
    args: plan.args,
    env: { GIT_DIR: repository, GIT_TERMINAL_PROMPT: '0' },
    after:
      plan.tracking.length === 0
        ? ''
        : ['track', ...plan.tracking.flatMap(({ ref, id }) => [ref, id]), '--', found.gitDir].join(' '),
  }
}

const HARMLESS = ['-p', '--paginate', '-P', '--no-pager']

/** A remote in a folder of this machine has hooks and settings of its own, which git follows when something is pushed to it. */
function isReplaceable(address: string, place: CallPlace): boolean {
  const folder = folderOf(address)
  if (folder === null) return false
  const parts = folder.split('/')
  return parts.some((_, at) => place.canWrite(parts.slice(0, at + 1).join('/') || '/'))
}
