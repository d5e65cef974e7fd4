/**
 * Says what would happen if a message were sent now. A run that is not stored is prepared as the path would prepare it,
 * so the answer is the path's own decision, not a second implementation of it.
 */
import { RepriseError, toRepriseError } from '../../contract/errors.ts'
import type { ConversationId } from '../../contract/ids.ts'
import type { TurnPlan } from '../../contract/overview.ts'
import { reasonText } from '../../contract/start-text.ts'
import type { NewRun } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { imagineTurn } from '../path/imagine-run.ts'
import { type PrepareDeps, type Prepared, prepareAttempt } from '../path/prepare.ts'

export type PlanDeps = PrepareDeps & {
  store: Pick<Store, 'getConversation' | 'listMessages'>
  settings: { permissions: NewRun['request']['permissions']; dryRun: boolean }
}

export async function planTurn(
  deps: PlanDeps,
  id: ConversationId,
  request: { agent?: string | undefined; forceFreshSession: boolean },
): Promise<TurnPlan> {
  const conversation = await deps.store.getConversation(id)
  if (!conversation) throw new RepriseError('not-found', `there is no conversation ${id}`)
  const agent = request.agent ?? conversation.agent
  const run = imagineTurn(conversation, request, deps.settings, deps.clock.now())
  const none = { agent, sessionId: null, freshReason: null, turns: 0, promptTokens: 0, leftOutTurns: 0 }
  try {
    const prepared = await prepareAttempt(deps, run, null)
    if (prepared === 'busy') {
      return { ...none, kind: 'busy', message: 'Waits until the run that uses the session has ended.' }
    }
    return describe(agent, prepared, conversation.turnCount)
  } catch (error) {
    const { code, message } = toRepriseError(error)
    if (code === 'internal' || code === 'agent-unknown') throw error
    return { ...none, kind: 'unavailable', message: `Cannot be sent now: ${message}.` }
  }
}

function describe(agent: string, { attempt, sent }: Prepared, turns: number): TurnPlan {
  const { resumed, kind, agentSessionId, freshReason, carry } = attempt
  const promptTokens = Math.round(sent.promptChars / 4)
  const leftOutTurns = sent.leftOut?.turns ?? 0
  const carried = carry === 'none' ? 0 : turns - leftOutTurns
  const shared = { agent, freshReason, promptTokens, leftOutTurns, turns: resumed ? 0 : carried }
  const session = agentSessionId.slice(0, 8)
  if (kind === 'compact') {
    const message = `Compacts session ${session}… first because its context is full, then sends this message.`
    return { ...shared, kind, sessionId: agentSessionId, message }
  }
  if (resumed) {
    const message = `Resumes session ${session}…, sends only this message.`
    return { ...shared, kind: 'resume', sessionId: agentSessionId, message }
  }
  const reason = freshReason === null ? null : reasonText(freshReason)
  const because = reason === null ? '' : `: ${freshReason === 'forced' ? 'you asked for it' : reason}`
  const history = carried > 0 ? ` with ${carried} earlier ${carried === 1 ? 'turn' : 'turns'}` : ''
  const message = `Starts ${turns === 0 ? 'a new session' : 'fresh'}${history}${because}.`
  return { ...shared, kind: 'fresh', sessionId: null, message }
}
