/**
 * Messages for agents that are at work.
 *
 * waiting → read (by a session) → closed with its run; read → waiting, if the agent died before it had written the
 * message down; waiting → turn | missed, if the run settles first. A message is for
 * the run, so an attempt in another session is given those that an earlier session has read, too. While a message is
 * open, its text is needed as it is; when it is closed, secrets are removed from it.
 */
import type { Kysely, Selectable } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { EventOf } from '../../contract/events.ts'
import type { RunId, SessionId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { AttemptRecord } from './attempt-records.ts'
import type { EventBatch } from './event-batch.ts'
import { appendEvents } from './events.ts'
import type { RunMessageRecord } from './records.ts'
import type { RunMessagesTable } from './schema.ts'

export interface NewRunMessage {
  id: string
  runId: RunId
  requestKey: string | null
  text: string
  from: string | null
}

/** Stores the message, once per key. A run that has settled can take one only if a next turn can follow it. */
export async function sayToRun(tx: Tx, message: NewRunMessage, at: Date): Promise<RunMessageRecord> {
  const { id, runId, requestKey, text, from } = message
  const known = requestKey === null ? undefined : await byKey(tx, runId, requestKey)
  if (known) return known
  const run = await tx
    .selectFrom('runs')
    .select(['state', 'conversation_id'])
    .where('id', '=', runId)
    .executeTakeFirstOrThrow()
  if (run.state === 'settled' && run.conversation_id === null) {
    throw new RepriseError('run-settled', `run ${runId} has ended, so nobody would read the message`, {
      hint: `Continue its session with a new prompt: reprise run --session ses_… "…"; \`reprise runs show ${runId}\` says which.`,
    })
  }
  const row = {
    id,
    run_id: runId,
    request_key: requestKey,
    text,
    sender: from,
    state: 'waiting' as const,
    said_at: at.getTime(),
    read_at: null,
    read_by: null,
    next_run_id: null,
    closed_at: null,
  }
  await tx.insertInto('run_messages').values(row).execute()
  return toRecord(row)
}

async function byKey(tx: Tx, runId: RunId, key: string): Promise<RunMessageRecord | undefined> {
  const rows = await select(tx, runId).where('request_key', '=', key).execute()
  return rows.map(toRecord)[0]
}

/** Oldest first. */
export async function listRunMessages(db: Kysely<Tables>, runId: RunId): Promise<RunMessageRecord[]> {
  return (await select(db, runId).execute()).map(toRecord)
}

/** The open messages that this session has not read, oldest first. */
export async function listUnread(
  db: Kysely<Tables>,
  runId: RunId,
  sessionId: SessionId,
): Promise<RunMessageRecord[]> {
  const rows = await select(db, runId)
    .where('closed_at', 'is', null)
    .where((eb) => eb.or([eb('read_by', 'is', null), eb('read_by', '<>', sessionId)]))
    .execute()
  return rows.map(toRecord)
}

type Reader = Pick<AttemptRecord, 'id' | 'runId' | 'sessionId'>

/** Records, once per session, that the agent has taken these messages in. */
export async function markRead(tx: Tx, attempt: Reader, ids: ReadonlySet<string>, at: Date): Promise<void> {
  const events = await setRead(tx, attempt, ids, at)
  if (events.length > 0) await appendEvents(tx, attempt.runId, attempt.id, events, at)
}

/**
 * Does the same for the messages that a batch of events reports as taken, and puts each right after its report: what the
 * agent says afterwards in the same batch may be an answer to it.
 */
export async function takeMessages(
  tx: Tx,
  attempt: Reader,
  batch: EventBatch,
  at: Date,
): Promise<EventBatch> {
  const reported = new Map(
    batch.types.flatMap((type, index) =>
      type === 'prompt-accept' ? [[messageIdOf(batch.texts[index] as string), index] as const] : [],
    ),
  )
  if (reported.size === 0) return batch
  const events = await setRead(tx, attempt, new Set(reported.keys()), at)
  if (events.length === 0) return batch
  return batch.insertAfter((index) => events.filter(({ messageId }) => reported.get(messageId) === index))
}

const messageIdOf = (text: string) => (JSON.parse(text) as EventOf<'prompt-accept'>).messageId

/** Returns the events to store. */
async function setRead(
  tx: Tx,
  attempt: Reader,
  ids: ReadonlySet<string>,
  at: Date,
): Promise<EventOf<'message'>[]> {
  const read = (await listUnread(tx, attempt.runId, attempt.sessionId)).filter(({ id }) => ids.has(id))
  for (const { id } of read)
    await tx
      .updateTable('run_messages')
      .set({ state: 'read', read_at: at.getTime(), read_by: attempt.sessionId })
      .where('id', '=', id)
      .execute()
  return read.map(({ id, text, from }) => ({
    type: 'message',
    messageId: id,
    text,
    ...(from === null ? {} : { from }),
  }))
}

/** These were not in the transcript when the agent had died: the session does not know them, and has to read them again. */
export async function returnMessages(tx: Tx, attempt: Reader, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('run_messages')
    .set({ state: 'waiting', read_at: null, read_by: null })
    .where('id', 'in', ids)
    .where('run_id', '=', attempt.runId)
    .where('read_by', '=', attempt.sessionId)
    .where('closed_at', 'is', null)
    .execute()
}

/** Settled runs that still have open messages. */
export async function listRunsWithOpenMessages(db: Kysely<Tables>): Promise<RunId[]> {
  const rows = await db
    .selectFrom('run_messages')
    .innerJoin('runs', 'runs.id', 'run_messages.run_id')
    .select('run_messages.run_id')
    .distinct()
    .where('run_messages.closed_at', 'is', null)
    .where('runs.state', '=', 'settled')
    .execute()
  return rows.map((row) => row.run_id)
}

/** Closes a message of a settled run. `unread` says what became of it if nobody has read it. */
export async function settleMessage(
  tx: Tx,
  { id, text, state }: RunMessageRecord,
  unread: { nextRunId: RunId | null },
  at: Date,
): Promise<void> {
  const { nextRunId } = unread
  const became = nextRunId === null ? 'missed' : 'turn'
  await tx
    .updateTable('run_messages')
    .set({
      ...(state === 'waiting' ? { state: became, next_run_id: nextRunId } : {}),
      text: tx.redactor.text(text),
      closed_at: at.getTime(),
    })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .execute()
}

const select = (db: Kysely<Tables>, runId: RunId) =>
  db.selectFrom('run_messages').selectAll().where('run_id', '=', runId).orderBy('said_at').orderBy('id')

const toDate = (ms: number | null) => (ms === null ? null : new Date(Number(ms)))

const toRecord = (row: Selectable<RunMessagesTable>): RunMessageRecord => ({
  id: row.id,
  runId: row.run_id,
  text: row.text,
  from: row.sender,
  state: row.state,
  saidAt: new Date(Number(row.said_at)),
  readAt: toDate(row.read_at),
  nextRunId: row.next_run_id,
  closedAt: toDate(row.closed_at),
})
