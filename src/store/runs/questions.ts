/**
 * Questions of agents, and the one answer that each gets. While a question is open, its row is used to act on it, by
 * any daemon: the agent must get back exactly what it said, so the row is not redacted. When the question is closed,
 * secrets are removed from the row.
 */
import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { EventBody, EventType } from '../../contract/events.ts'
import type { AttemptId, RunId } from '../../contract/ids.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import { redactAsk } from '../base/redaction.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { PendingRecord, QuestionRecord } from './attempt-records.ts'
import { toQuestion } from './rows.ts'

/** Redacted for display. */
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

export const hashOf = (ask: string) => createHash('sha256').update(ask).digest('hex')

/** Opens and closes questions by the events that report them, in the same transaction. */
export async function trackQuestions(
  tx: Tx,
  attemptId: AttemptId,
  runId: RunId,
  bodies: readonly EventBody[],
  at: Date,
): Promise<void> {
  if (!bodies.some(({ type }) => OPENS.has(type) || CLOSES.has(type))) return
  // Most tools end without having asked: one query instead of an update for each.
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

/** Closes those with these ids; all open ones, if none are given. */
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

/** The tool calls of the open questions, by request. */
async function listOpen(tx: Tx, attemptId: AttemptId): Promise<Map<string, string>> {
  const rows = await tx
    .selectFrom('questions')
    .select(['request_id', 'tool_use_id'])
    .where('attempt_id', '=', attemptId)
    .where('closed_at', 'is', null)
    .execute()
  return new Map(rows.map((row) => [row.request_id, row.tool_use_id]))
}
