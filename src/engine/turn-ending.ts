/** What a conversation keeps of an attempt: the answer, once the run is settled, and the session to go on in. */
import type { ContentBlock } from '../contract/conversation.ts'
import { MessageId } from '../contract/ids.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { Next } from '../core/continue/decide.ts'
import { ANSWER_EVENTS, composeAnswer } from '../core/history/answer.ts'
import type { AttemptRecord, MessageRecord, RunRecord, StoredEvent, TurnEnding } from '../store/records.ts'
import type { Store } from '../store/store.ts'
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
  const blocks = await readAnswer(store, run)
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

async function readAnswer(store: Store, run: RunRecord): Promise<ContentBlock[]> {
  const said: StoredEvent[] = []
  for (const attempt of await store.listAttempts(run.id)) {
    if (attempt.kind === 'compact') continue
    const events = await store.listEvents(run.id, { attemptId: attempt.id, types: ANSWER_EVENTS })
    // A text that is complete is in one event; pieces matter only of the one that never was.
    const afterSeq = events.findLast(({ body }) => body.type === 'text-end')?.seq ?? 0
    const pieces = await store.listEvents(run.id, { attemptId: attempt.id, types: ['text-delta'], afterSeq })
    said.push(...[...events, ...pieces].sort((a, b) => a.seq - b.seq))
  }
  return composeAnswer(said.map(({ body }) => body))
}

function stateOf(outcome: Outcome): MessageRecord['state'] {
  if (outcome.name === 'completed') return 'complete'
  return outcome.name === 'cancelled' ? 'cancelled' : 'failed'
}
