/**
 * Says what would happen if a message were sent now. A run that is not stored is prepared as the path would prepare it,
 * so the answer is the path's own decision, not a second implementation of it.
 */
import { RepriseError, toRepriseError } from '../../contract/errors.ts'
import type { ConversationId } from '../../contract/ids.ts'
import { NO_USAGE } from '../../contract/outcome.ts'
import type { TurnPlan } from '../../contract/overview.ts'
import { reasonText } from '../../contract/start-text.ts'
import type { ConversationRecord } from '../../store/conversations/records.ts'
import type { NewRun, RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { buildRun } from '../path/build-run.ts'
import { type PrepareDeps, type Prepared, prepareAttempt } from '../path/prepare.ts'

export type PlanDeps = PrepareDeps & {
  store: Pick<Store, 'getConversation' | 'listMessages'>
  settings: { permissions: NewRun['request']['permissions'] }
}

export async function planTurn(
  deps: PlanDeps,
  id: ConversationId,
  request: { agent?: string | undefined; forceFreshSession: boolean },
): Promise<TurnPlan> {
  const conversation = await deps.store.getConversation(id)
  if (!conversation) throw new RepriseError('not-found', `there is no conversation ${id}`)
  const agent = request.agent ?? conversation.agent
  const run = imagineRun(deps, conversation, agent, request.forceFreshSession)
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

function imagineRun(
  { clock, settings }: PlanDeps,
  conversation: ConversationRecord,
  agent: string,
  forceFreshSession: boolean,
): RunRecord {
  const run = buildRun({
    agent,
    model: null,
    workDir: conversation.workDir,
    prompt: '',
    request: { permissions: settings.permissions, forceFreshSession },
    sessionId: null,
    createdAt: clock.now(),
  })
  return {
    ...run,
    state: { at: 'queued', notBefore: null, why: null, paused: false },
    cancelRequested: false,
    decision: null,
    sandbox: null,
    directorySettings: null,
    attemptCount: 0,
    outdatedAttempts: 0,
    interruptions: 0,
    resumeCount: 0,
    resultText: null,
    sent: null,
    spend: { usage: NO_USAGE, costUsd: null, estimated: false, contextTokens: null, contextWindow: null },
    done: { modelCalls: 0, toolCalls: 0, refusals: 0 },
    priority: 0,
    place: null,
    links: {
      parentRunId: null,
      tier: null,
      conversationId: conversation.id,
      turn: conversation.turnCount + 1,
      jobId: null,
      cycleId: null,
      followUpId: null,
      budgetOf: null,
    },
    startedAt: null,
  }
}
