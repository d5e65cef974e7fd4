/**
 * What agents ask, and the one answer each question gets. While a question stands, its row is what is acted on: the
 * agent is to get back what it said, by whichever daemon, so nothing is taken out of it. Once it is closed nobody needs
 * that any more, and the row is left without secrets.
 */
import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { EventBody, EventType } from '../../contract/events.ts'
import type { AttemptId, RunId } from '../../contract/ids.ts'
import type { ToolResult } from '../../contract/run.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import { redactAsk } from '../base/redaction.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { PendingRecord, QuestionRecord } from './attempt-records.ts'
import { appendEvents } from './events.ts'
import { toQuestion } from './rows.ts'

/** As it may be shown. */
export async function listPending(
  db: Kysely<Tables>,
  runId: RunId,
  redactor: Redactor,
): Promise<PendingRecord[]> {
  const rows = await db
    .selectFrom('questions')
    .selectAll()
    .where('run_id', '=', runId)
    .where('answer', 'is', null)
    .where('closed_at', 'is', null)
    .orderBy('asked_at')
    .execute()
  return rows.map((row) => ({
    ...toQuestion({ ...row, ask: redactAsk(redactor, row.ask) }),
    askHash: hashOf(row.ask),
  }))
}

export async function listQuestions(db: Kysely<Tables>, attemptId: AttemptId): Promise<QuestionRecord[]> {
  const rows = await db
    .selectFrom('questions')
    .selectAll()
    .where('attempt_id', '=', attemptId)
    .orderBy('asked_at')
    .execute()
  return rows.map(toQuestion)
}

/** Stores the answer, once. Delivering it is the caller's next step, and may be repeated. */
export async function answerQuestion(
  tx: Tx,
  runId: RunId,
  { toolUseId, askHash, ...given }: ToolResult,
  by: 'person' | 'policy',
  at: Date,
): Promise<QuestionRecord> {
  const rows = await tx
    .selectFrom('questions')
    .selectAll()
    .where('run_id', '=', runId)
    .where('tool_use_id', '=', toolUseId)
    .orderBy('asked_at', 'desc')
    .execute()
  if (rows.length === 0) {
    throw new RepriseError('question-unknown', `run ${runId} has asked nothing with the id ${toolUseId}`, {
      hint: `GET /api/runs/${runId} lists what is pending.`,
    })
  }
  // A hook and a prompt may both ask about one tool call, one after the other.
  const standing = rows.filter((r) => r.answer === null && r.closed_at === null)
  const row = askHash === undefined ? standing[0] : standing.find(({ ask }) => hashOf(ask) === askHash)
  if (!row && standing.length > 0) {
    throw new RepriseError('conflict', `what ${toolUseId} asks is not what was answered`, {
      hint: `GET /api/runs/${runId} says what it asks now.`,
    })
  }
  if (!row) {
    const closed = rows[0]?.answer === null
    throw closed
      ? new RepriseError(
          'run-settled',
          `question ${toolUseId} no longer stands: the agent went on or has ended`,
        )
      : alreadyAnswered(toolUseId)
  }
  const question = toQuestion(row)
  const answer = toItsWords(question.ask, given, tx.redactor)
  checkFits(question.ask, answer)
  const { numUpdatedRows } = await tx
    .updateTable('questions')
    .set({ answer: JSON.stringify(answer), answered_at: at.getTime() })
    .where('attempt_id', '=', row.attempt_id)
    .where('request_id', '=', row.request_id)
    .where('answer', 'is', null)
    .where('closed_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw alreadyAnswered(toolUseId)
  await appendEvents(
    tx,
    runId,
    row.attempt_id,
    [
      {
        type: 'question-answer',
        toolUseId,
        decision: answer.decision ?? 'answer',
        by,
        ...(answer.message ? { reason: answer.message } : {}),
      },
    ],
    at,
  )
  return { ...question, answer, answeredAt: at }
}

const alreadyAnswered = (toolUseId: string) =>
  new RepriseError('question-answered', `question ${toolUseId} has been answered already`)

const hashOf = (ask: string) => createHash('sha256').update(ask).digest('hex')

/** Whoever answers may have been shown a question or an option without the secrets in it. */
function toItsWords(
  ask: QuestionRecord['ask'],
  answer: Omit<ToolResult, 'toolUseId'>,
  redactor: Redactor,
): Omit<ToolResult, 'toolUseId'> {
  if (ask.type !== 'question-ask' || answer.answers === undefined) return answer
  const own = new Map(
    ask.questions
      .flatMap(({ question, options }) => [question, ...options.map(({ label }) => label)])
      .map((words) => [redactor.text(words), words]),
  )
  const answers = Object.entries(answer.answers).map(([question, said]) => [
    own.get(question) ?? question,
    own.get(said) ?? said,
  ])
  return { ...answer, answers: Object.fromEntries(answers) }
}

/** An answer is given once: one that says nothing to what was asked must not use it up. */
function checkFits(ask: QuestionRecord['ask'], answer: Omit<ToolResult, 'toolUseId'>): void {
  if (ask.type === 'permission-ask') {
    if (answer.decision !== undefined) return
    throw new RepriseError(
      'bad-request',
      `${ask.toolUseId} is a permission request: expected decision "allow" or "deny"`,
    )
  }
  if (answer.decision === 'deny') return
  const asked = ask.questions.map(({ question }) => question)
  const given = Object.keys(answer.answers ?? {})
  if (
    given.length > 0 &&
    given.every((text) => asked.includes(text)) &&
    asked.every((text) => given.includes(text))
  )
    return
  throw new RepriseError(
    'bad-request',
    `${ask.toolUseId} is a question: expected answers to each of its questions, by their text`,
    {
      hint: `Asked: ${asked.map((text) => JSON.stringify(text)).join(', ')}. Or decision "deny" to refuse to answer.`,
      details: { asked },
    },
  )
}

/** Questions come and go with the events that say so, in the same transaction. */
export async function trackQuestions(
  tx: Tx,
  attemptId: AttemptId,
  runId: RunId,
  bodies: readonly EventBody[],
  at: Date,
): Promise<void> {
  if (!bodies.some(({ type }) => OPENS.has(type) || CLOSES.has(type))) return
  // Most tools end without ever having asked: one look instead of a write for each.
  const open = await listOpen(tx, attemptId)
  for (const body of bodies) {
    if (body.type === 'question-ask' || body.type === 'permission-ask') {
      await tx
        .insertInto('questions')
        .values({
          attempt_id: attemptId,
          request_id: body.requestId,
          run_id: runId,
          tool_use_id: body.toolUseId,
          ask: JSON.stringify(body),
          asked_at: at.getTime(),
          answer: null,
          answered_at: null,
          closed_at: null,
        })
        .onConflict((oc) => oc.doNothing())
        .execute()
      open.set(body.requestId, body.toolUseId)
    } else if (body.type === 'question-cancel' || body.type === 'tool-end') {
      const over = [...open].flatMap(([requestId, toolUseId]) =>
        (body.type === 'tool-end' ? toolUseId === body.toolUseId : requestId === body.requestId)
          ? [requestId]
          : [],
      )
      if (over.length === 0) continue
      for (const requestId of over) open.delete(requestId)
      await closeQuestions(tx, attemptId, at, over)
    }
  }
}

/** Those with these ids; all that stand, if none are given. */
export async function closeQuestions(
  tx: Tx,
  attemptId: AttemptId,
  at: Date,
  requestIds?: readonly string[],
): Promise<void> {
  let standing = tx
    .selectFrom('questions')
    .select(['request_id', 'ask', 'answer'])
    .where('attempt_id', '=', attemptId)
    .where('closed_at', 'is', null)
  if (requestIds) standing = standing.where('request_id', 'in', requestIds)
  for (const { request_id, ask, answer } of await standing.execute()) {
    await tx
      .updateTable('questions')
      .set({
        closed_at: at.getTime(),
        ask: redactAsk(tx.redactor, ask),
        answer: answer && tx.redactor.json(answer),
      })
      .where('attempt_id', '=', attemptId)
      .where('request_id', '=', request_id)
      .where('closed_at', 'is', null)
      .execute()
  }
}

const OPENS: ReadonlySet<EventType> = new Set(['question-ask', 'permission-ask'] as const)
const CLOSES: ReadonlySet<EventType> = new Set(['question-cancel', 'tool-end'] as const)

/** The tool calls of the questions that still stand, by request. */
async function listOpen(tx: Tx, attemptId: AttemptId): Promise<Map<string, string>> {
  const rows = await tx
    .selectFrom('questions')
    .select(['request_id', 'tool_use_id'])
    .where('attempt_id', '=', attemptId)
    .where('closed_at', 'is', null)
    .execute()
  return new Map(rows.map((row) => [row.request_id, row.tool_use_id]))
}
