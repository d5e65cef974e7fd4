/** What a conversation stores about a run: the answer, once the run is settled, and the session for the next turn. */
import type { ContentBlock } from '../../contract/conversation.ts'
import { MessageId, type SessionId } from '../../contract/ids.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Clock } from '../../core/clock.ts'
import { ANSWER_EVENTS, composeAnswer, createClip } from '../../core/history/answer.ts'
import { sayAnswers } from '../../core/prompt/interruption.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { MessageRecord, TurnEnding } from '../../store/conversations/records.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'
import { currentAttempts } from '../path/context.ts'
import { readUnfinishedText } from '../path/unfinished-text.ts'
import { readTurnContext, type TurnStore } from './context.ts'
import { requireTurn } from './turn.ts'

export interface TurnEndingInput {
  run: RunRecord
  /** null if the run continues with another attempt. */
  settled: Outcome | null
  /** The attempt whose session contains the question now, if that session can be continued. */
  took: AttemptRecord | null
  /** The session also contains the texts that were added to the question. */
  informed: boolean
}

export interface TurnEndingDeps {
  store: TurnStore & Pick<Store, 'listQuestions'>
  clock: Clock
  redactor: Redactor
}

export async function readTurnEnding(
  deps: TurnEndingDeps,
  { run, settled, took, informed }: TurnEndingInput,
): Promise<TurnEnding> {
  const { conversationId, turn } = requireTurn(run)
  const knows = informed || (took !== null && !(await wasGivenPast(deps, took, run)))
  return {
    conversationId,
    turn,
    agent: run.agent,
    runId: run.id,
    goesOn: settled === null,
    answer: settled && (await readAnswer(deps, run, settled)),
    pin: took && knows ? { sessionId: took.sessionId, sessionEpoch: took.epoch } : null,
  }
}

/** Whether earlier messages were added to the question. */
async function wasGivenPast(
  { store }: TurnEndingDeps,
  { resumed, carry }: AttemptRecord,
  run: RunRecord,
): Promise<boolean> {
  if (!resumed) return carry !== 'none'
  return (await readTurnContext(store, run, requireTurn(run))).catchUp.length > 0
}

async function readAnswer(
  deps: TurnEndingDeps,
  run: RunRecord,
  outcome: Outcome,
): Promise<TurnEnding['answer']> {
  const said: { sessionId: SessionId; blocks: ContentBlock[] }[] = []
  const clip = createClip()
  for (const attempt of currentAttempts(run, await deps.store.listAttempts(run.id))) {
    if (attempt.kind !== 'turn') continue
    const blocks = await answerOf(deps, attempt, clip)
    if (blocks.length > 0) said.push({ sessionId: attempt.sessionId, blocks })
  }
  // Texts from an abandoned session are dropped, because the session that continued does not know them. Tool calls from
  // there are kept: their effects remain, and the later session was told about them.
  const kept = said.at(-1)?.sessionId
  const blocks = said.flatMap(({ sessionId, blocks }) =>
    sessionId === kept ? blocks : blocks.filter((block) => block.type !== 'text'),
  )
  if (blocks.length === 0 && outcome.name !== 'completed') return null
  return { id: MessageId.create(deps.clock.now()), blocks, state: stateOf(outcome) }
}

async function answerOf(
  { store, redactor }: TurnEndingDeps,
  { id, runId }: AttemptRecord,
  clip: ReturnType<typeof createClip>,
): Promise<ContentBlock[]> {
  let lastText = 0
  const whole: { seq: number; blocks: ContentBlock[] }[] = []
  await scanEvents(store, runId, { attemptId: id, types: ANSWER_EVENTS }, ({ seq, body }) => {
    if (body.type === 'text-end' && body.parentToolUseId === undefined) lastText = seq
    whole.push({ seq, blocks: composeAnswer([body], clip) })
  })
  const unfinished = await readUnfinishedText(store, { id, runId }, lastText)
  if (unfinished) whole.push({ seq: unfinished.seq, blocks: [{ type: 'text', text: unfinished.text }] })
  const answers = await readAnswers(
    { store, redactor },
    id,
    whole.flatMap(({ blocks }) => blocks),
  )
  whole.push(...answers.map((block) => ({ seq: Number.POSITIVE_INFINITY, blocks: [block] })))
  return whole.sort((a, b) => a.seq - b.seq).flatMap(({ blocks }) => blocks)
}

/** Answers of people that the agent's own output does not show, because it ended before. */
async function readAnswers(
  { store, redactor }: Pick<TurnEndingDeps, 'store' | 'redactor'>,
  id: AttemptRecord['id'],
  blocks: readonly ContentBlock[],
): Promise<ContentBlock[]> {
  const ended = new Set(blocks.flatMap((block) => (block.type === 'tool-result' ? [block.toolUseId] : [])))
  const open = blocks.some((block) => block.type === 'tool-use' && !ended.has(block.toolUseId))
  const questions = open ? await store.listQuestions(id) : []
  return questions.flatMap(({ ask, answer }): ContentBlock[] => {
    if (ask.type !== 'question-ask' || !answer?.answers || ended.has(ask.toolUseId)) return []
    // A stored question is not redacted while it is open, so it is redacted here.
    const content = redactor.text(sayAnswers(JSON.parse(redactor.json(JSON.stringify(answer.answers)))))
    return [{ type: 'tool-result', toolUseId: ask.toolUseId, isError: false, content }]
  })
}

function stateOf(outcome: Outcome): MessageRecord['state'] {
  if (outcome.name === 'completed') return 'complete'
  return outcome.name === 'cancelled' ? 'cancelled' : 'failed'
}
