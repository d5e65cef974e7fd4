/**
 * A run's events: numbered from 1 without gaps, append-only. The number is taken from the run's row in the same
 * transaction, so it cannot be used twice. Every event is stored through `appendBatch`, which redacts secrets that are
 * still in it.
 */
import { CompiledQuery, type Kysely } from 'kysely'
import type { EventBody, EventType } from '../../contract/events.ts'
import type { AttemptId, RunId } from '../../contract/ids.ts'
import { redactEvent } from '../base/redaction.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { EventBatch } from './event-batch.ts'
import type { StoredEvent } from './records.ts'
import { toEvent } from './rows.ts'
import type { EventsTable } from './schema.ts'

/** Returns the number of the last event appended. */
export function appendEvents(
  tx: Tx,
  runId: RunId,
  attemptId: AttemptId | null,
  bodies: readonly EventBody[],
  at: Date,
): Promise<number> {
  return appendBatch(tx, runId, attemptId, EventBatch.of(bodies), at)
}

export async function appendBatch(
  tx: Tx,
  runId: RunId,
  attemptId: AttemptId | null,
  { types, texts, size: count, redacted }: EventBatch,
  at: Date,
): Promise<number> {
  const { last_seq } = await tx
    .updateTable('runs')
    .set((eb) => ({ last_seq: eb('last_seq', '+', count) }))
    .where('id', '=', runId)
    .returning('last_seq')
    .executeTakeFirstOrThrow()
  const firstSeq = Number(last_seq) - count + 1
  for (let from = 0; from < count; ) {
    const size = SIZES.find((rows) => rows <= count - from) ?? 1
    const values: unknown[] = []
    for (let index = from; index < from + size; index++) {
      const type = types[index] as EventType
      const text = texts[index] as string
      const body = redacted ? text : redactEvent(tx.redactor, type, text)
      values.push(runId, firstSeq + index, attemptId, at.getTime(), type, body)
    }
    await tx.executeQuery(CompiledQuery.raw(insertOf(tx, size).sql, values))
    from += size
  }
  return Number(last_seq)
}

/** Building a query costs more than running it, so inserts of a few sizes are built once per database. */
const SIZES = [64, 8, 1]
const inserts = new Map<string, CompiledQuery>()

function insertOf(tx: Tx, size: number): CompiledQuery {
  const key = `${tx.getExecutor().adapter.constructor.name} ${size}`
  const known = inserts.get(key)
  if (known) return known
  const row: EventsTable = { run_id: 'run_', seq: 0, attempt_id: null, at: 0, type: '', body: '' }
  const compiled = tx
    .insertInto('events')
    .columns(['run_id', 'seq', 'attempt_id', 'at', 'type', 'body'])
    .values(Array.from({ length: size }, () => ({ ...row, attempt_id: 'att_' as AttemptId })))
    .compile()
  inserts.set(key, compiled)
  return compiled
}

export interface EventQuery {
  afterSeq?: number
  limit?: number
  attemptId?: AttemptId
  types?: readonly EventType[]
}

export async function listEvents(
  db: Kysely<Tables>,
  runId: RunId,
  query: EventQuery = {},
): Promise<StoredEvent[]> {
  let select = db.selectFrom('events').selectAll().where('run_id', '=', runId).orderBy('seq')
  if (query.afterSeq !== undefined) select = select.where('seq', '>', query.afterSeq)
  if (query.attemptId) select = select.where('attempt_id', '=', query.attemptId)
  if (query.types) select = select.where('type', 'in', [...query.types])
  if (query.limit !== undefined) select = select.limit(query.limit)
  return (await select.execute()).map(toEvent)
}

export async function countEvents(db: Kysely<Tables>, runId: RunId, type: EventType): Promise<number> {
  const { n } = await db
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('run_id', '=', runId)
    .where('type', '=', type)
    .executeTakeFirstOrThrow()
  return Number(n)
}

export async function findNewestEvent(
  db: Kysely<Tables>,
  runId: RunId,
  types: readonly EventType[],
): Promise<StoredEvent | null> {
  const row = await db
    .selectFrom('events')
    .selectAll()
    .where('run_id', '=', runId)
    .where('type', 'in', types)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? toEvent(row) : null
}
