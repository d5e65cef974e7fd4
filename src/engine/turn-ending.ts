/** What a conversation keeps of a run: the answer, once it is settled, and the session to go on in. */
import type { ContentBlock } from '../contract/conversation.ts'
import { MessageId, type SessionId } from '../contract/ids.ts'
import type { Outcome } from '../contract/outcome.ts'
import { ANSWER_EVENTS, composeAnswer, createClip } from '../core/history/answer.ts'
import type { AttemptRecord, MessageRecord, RunRecord, TurnEnding } from '../store/records.ts'
import { scanEvents } from './events.ts'
import type { EngineParts } from './parts.ts'

export interface TurnEndingInput {
  run: RunRecord
  /** null: the run goes on with another attempt. */
  settled: Outcome | null
  /** The attempt whose session holds the question now, if that can be gone on with. */
  took: AttemptRecord | null
}

export async function endingOfTurn(
  parts: EngineParts,
  { run, settled, took }: TurnEndingInput,
): Promise<TurnEnding | null> {
  const { conversationId, turn } = run.links
  if (conversationId === null || turn === null) return null
  return {
    conversationId,
    turn,
    agent: run.agent,
    runId: run.id,
    goesOn: settled === null,
    answer: settled && (await readAnswer(parts, run, settled)),
    pin: took && {
      sessionId: took.sessionId,
      sessionEpoch: took.epoch,
      instructionsHash: took.instructionsHash,
    },
  }
}

async function readAnswer(
  parts: EngineParts,
  run: RunRecord,
  outcome: Outcome,
): Promise<TurnEnding['answer']> {
  const said: { sessionId: SessionId; blocks: ContentBlock[] }[] = []
  const clip = createClip()
  for (const attempt of await parts.store.listAttempts(run.id)) {
    if (attempt.kind !== 'turn') continue
    const blocks = await answerOf(parts, attempt, clip)
    if (blocks.length > 0) said.push({ sessionId: attempt.sessionId, blocks })
  }
  // What was said in a session that was given up, the one gone on in does not know: it is no part of the answer. What
  // was done there it has been told, and it stays done.
  const kept = said.at(-1)?.sessionId
  const blocks = said.flatMap(({ sessionId, blocks }) =>
    sessionId === kept ? blocks : blocks.filter((block) => block.type !== 'text'),
  )
  if (blocks.length === 0 && outcome.name !== 'completed') return null
  return { id: MessageId.create(parts.clock.now()), blocks, state: stateOf(outcome) }
}

/** A text that is complete is in one event; pieces matter only of the one that never was. */
async function answerOf(
  { store }: EngineParts,
  { id, runId }: AttemptRecord,
  clip: ReturnType<typeof createClip>,
): Promise<ContentBlock[]> {
  let lastText = 0
  const whole: { seq: number; blocks: ContentBlock[] }[] = []
  await scanEvents(store, runId, { attemptId: id, types: ANSWER_EVENTS }, ({ seq, body }) => {
    if (body.type === 'text-end') lastText = seq
    whole.push({ seq, blocks: composeAnswer([body], clip) })
  })
  let unfinished = ''
  let from = Number.POSITIVE_INFINITY
  await scanEvents(
    store,
    runId,
    { attemptId: id, types: ['text-delta'], afterSeq: lastText },
    ({ seq, body }) => {
      if (body.type !== 'text-delta' || body.parentToolUseId !== undefined) return
      unfinished += body.text
      from = Math.min(from, seq)
    },
  )
  if (unfinished.trim() !== '') whole.push({ seq: from, blocks: [{ type: 'text', text: unfinished }] })
  return whole.sort((a, b) => a.seq - b.seq).flatMap(({ blocks }) => blocks)
}

function stateOf(outcome: Outcome): MessageRecord['state'] {
  if (outcome.name === 'completed') return 'complete'
  return outcome.name === 'cancelled' ? 'cancelled' : 'failed'
}
