/** A push by the broker, planned from the call of an agent. */

import { optionValues, type Reading } from '../../core/rules/arguments.ts'
import { parseGitPush } from '../../core/rules/git-push.ts'
import { pushArguments } from '../../core/rules/git-remote.ts'
import { openPrivateRepository, planPush } from '../../process/broker/push.ts'
import type { Remotes } from '../../process/broker/remotes.ts'
import { findRepository, listAlternates } from '../../process/broker/repository.ts'
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
  const lent = [found.commonDir, ...listAlternates(found)].find(place.isHidden)
  if (lent !== undefined) return refuse('the repository uses objects of a hidden folder')
  const plan = planPush(parsed.push, found, remotes)
  if (!plan.ok) return refuse(plan.problem)
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
