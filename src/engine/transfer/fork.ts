/** Forks a session at its end or at an earlier message. Both continue independently afterwards. */
import { RepriseError } from '../../contract/errors.ts'
import { RunId } from '../../contract/ids.ts'
import type { ForkedSession, ForkSession } from '../../contract/session-transfer.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { requireSession } from '../sessions/require-session.ts'
import { type CopyDeps, type Cut, copySession } from './copy.ts'
import { storePlaced } from './store-placed.ts'

export type ForkDeps = CopyDeps & {
  store: Pick<Store, 'getSession' | 'findSession' | 'addCopies' | 'getRun' | 'listAttempts'>
}

export async function forkSession(deps: ForkDeps, id: string, { at }: ForkSession): Promise<ForkedSession> {
  const session = await requireSession(deps.store, id)
  const copied = await copySession(deps, session, at ? await pointOf(deps, session, at) : null, 'fork')
  await storePlaced(deps, [copied], () => deps.store.addCopies([copied], null))
  return {
    session: copied.session.id,
    agentSessionId: copied.session.agentSessionId,
    from: session.id,
    workDir: session.workDir,
    turns: copied.questions.length,
    bytes: copied.part.bytes,
  }
}

async function pointOf({ store }: ForkDeps, session: SessionRecord, at: string): Promise<Cut> {
  if (!RunId.is(at)) return { messageId: at, keep: 'turn', told: null }
  const cut = await findEndOfRun(store, session, at)
  if (cut !== null) return cut
  throw new RepriseError('bad-request', `run ${at} did not work in session ${session.id}`, {
    hint: `\`reprise sessions show ${session.id}\` lists its runs.`,
  })
}

/**
 * The end of a run in a session: after the answer to the message with which it last spoke to the agent there. null: it never
 * did. Throws while the run is open.
 */
export async function findEndOfRun(
  store: Pick<Store, 'getRun' | 'listAttempts'>,
  session: Pick<SessionRecord, 'id'>,
  id: RunId,
): Promise<Cut | null> {
  const run = await store.getRun(id)
  if (run && run.state.at !== 'settled') {
    throw new RepriseError('conflict', `run ${id} has not ended yet`, {
      hint: 'Wait until it has ended, or choose an earlier one.',
    })
  }
  const attempts = run ? await store.listAttempts(id) : []
  const last = attempts.findLast(({ sessionId, kind }) => sessionId === session.id && kind === 'turn')
  return last ? { messageId: last.promptId, keep: 'turn', told: last.told } : null
}
