/** What a conversation keeps of an attempt: the answer, once the run is settled, and the session to go on in. */
import { MessageId } from '../contract/ids.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { Next } from '../core/continue/decide.ts'
import { ANSWER_EVENTS, composeAnswer } from '../core/history/answer.ts'
import type { AttemptRecord, MessageRecord, RunRecord, TurnEnding } from '../store/records.ts'
import type { EngineParts } from './parts.ts'

export interface TurnEndingInput {
  run: RunRecord
  attempt: AttemptRecord
  outcome: Outcome
  next: Next
  /** The session holds the question now. */
  tookPrompt: boolean
}

export async function endingOfTurn(
  { store, clock }: EngineParts,
  { run, attempt, outcome, next, tookPrompt }: TurnEndingInput,
): Promise<TurnEnding | null> {
  const { conversationId, turn } = run.links
  if (conversationId === null || turn === null || next.kind !== 'settle') return null
  const compactions = (await store.listAttempts(run.id)).filter((a) => a.kind === 'compact').map((a) => a.id)
  const events = await store.listEvents(run.id, { types: ANSWER_EVENTS })
  const said = events.filter((event) => event.attemptId === null || !compactions.includes(event.attemptId))
  const blocks = composeAnswer(said.map(({ body }) => body))
  const answer =
    blocks.length > 0 || next.outcome.name === 'completed'
      ? { id: MessageId.create(clock.now()), blocks, state: stateOf(next.outcome) }
      : null
  const usable = tookPrompt && outcome.name !== 'session-missing'
  const { sessionId, epoch, instructionsHash } = attempt
  return {
    conversationId,
    turn,
    agent: run.agent,
    runId: run.id,
    answer,
    pin: usable ? { sessionId, sessionEpoch: epoch, instructionsHash } : null,
  }
}

function stateOf(outcome: Outcome): MessageRecord['state'] {
  if (outcome.name === 'completed') return 'complete'
  return outcome.name === 'cancelled' ? 'cancelled' : 'failed'
}
