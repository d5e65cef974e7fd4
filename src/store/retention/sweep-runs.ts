/** Deletes old groups of runs, and the events of old runs. Without `remove` it only says what would go. */
import { type Kysely, sql } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { type Group, isOldFiring, mayDelete, mayThin, readGroup } from './group.ts'
import { keepCosts } from './past-costs.ts'

type Db = Kysely<Tables>

export interface SweepQuery {
  before: Date
  /** Only runs after this position are looked at. */
  after: RunCursor | null
  limit: number
}

export interface RunCursor {
  endedAt: number
  id: RunId
}

export interface Swept {
  count: number
  bytes: number
}

/** The outcome for a group. Its runs need not be looked at again in the same sweep. */
export interface Visited<What> {
  runIds: readonly RunId[]
  /** null: something of the group is still needed. */
  swept: What | null
}

export interface SweptGroup {
  runs: Swept
  events: Swept
  jobs: number
  cycles: number
  followUps: number
}

const NOTHING: Swept = { count: 0, bytes: 0 }

/** Settled runs that may be old enough, oldest first: those of deleted conversations are, whatever their age. */
export async function listOldRuns(
  db: Db,
  { before, after, limit }: SweepQuery,
  what: 'runs' | 'events',
): Promise<RunCursor[]> {
  const isOrphan = sql<boolean>`conversation_id is not null and not exists (select 1 from conversations c where c.id = runs.conversation_id)`
  const isOld = sql<boolean>`ended_at < ${before.getTime()}`
  let select = db
    .selectFrom('runs')
    .select(['id', 'ended_at'])
    .where('state', '=', sql.lit('settled'))
    .where(
      what === 'events'
        ? sql<boolean>`events_swept = 0 and ${isOld}`
        : sql<boolean>`((conversation_id is null and ${isOld}) or (${isOrphan}))`,
    )
    .orderBy('ended_at')
    .orderBy('id')
    .limit(limit)
  if (after)
    select = select.where((eb) =>
      eb.or([
        eb('ended_at', '>', after.endedAt),
        eb.and([eb('ended_at', '=', after.endedAt), eb('id', '>', after.id)]),
      ]),
    )
  return (await select.execute()).map(({ id, ended_at }) => ({ id, endedAt: Number(ended_at) }))
}

export async function measureGroup(db: Db, id: RunId, before: Date): Promise<Visited<SweptGroup>> {
  const group = await readGroup(db, id)
  const may = await mayDelete(db, group, before)
  return { runIds: idsOf(group), swept: may ? await describe(db, group) : null }
}

/** Deletes the group in one transaction. */
export async function deleteGroup(tx: Tx, id: RunId, before: Date): Promise<Visited<SweptGroup>> {
  const group = await readGroup(tx, id)
  const runIds = idsOf(group)
  if (!(await mayDelete(tx, group, before))) return { runIds, swept: null }
  const swept = await describe(tx, group)
  for (const { id: runId } of group.runs) await deleteRun(tx, runId)
  for (const jobId of group.jobIds) {
    await deleteTraces(tx, jobId)
    await tx.deleteFrom('jobs').where('id', '=', jobId).execute()
  }
  for (const cycleId of group.cycleIds) {
    await deleteTraces(tx, cycleId)
    await tx.deleteFrom('cycles').where('id', '=', cycleId).execute()
  }
  for (const planId of group.followUpIds) {
    await deleteTraces(tx, planId)
    await tx.deleteFrom('follow_ups').where('id', '=', planId).execute()
  }
  return { runIds, swept }
}

const idsOf = ({ runs, unread }: Group): RunId[] => [...runs.map(({ id }) => id), ...unread]

async function deleteRun(tx: Tx, id: RunId): Promise<void> {
  await keepCosts(tx, id)
  // A process may have served several runs.
  await sql`
    delete from processes where state = 'gone' and id in (select process_id from attempts where run_id = ${id})
      and not exists (select 1 from attempts a where a.process_id = processes.id and a.run_id <> ${id})`.execute(
    tx,
  )
  for (const table of [
    'attempts',
    'questions',
    'run_messages',
    'events',
    'escalations',
    'query_histories',
    'tool_files',
  ] as const)
    await tx.deleteFrom(table).where('run_id', '=', id).execute()
  await deleteTraces(tx, id)
  await tx.deleteFrom('runs').where('id', '=', id).execute()
}

/** Rows that name something by its id: the key of the request that made it, and notifications about it that were sent. */
export async function deleteTraces(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('request_keys').where('made', '=', id).execute()
  await tx
    .deleteFrom('notifications')
    .where('subject_id', '=', id as never)
    .where('state', '<>', 'pending')
    .execute()
}

async function describe(db: Db, { runs, jobIds, cycleIds, followUpIds }: Group): Promise<SweptGroup> {
  let [own, events] = [NOTHING, NOTHING]
  for (const { id } of runs) {
    own = add(own, { count: 1, bytes: await runBytes(db, id) })
    events = add(events, await countEvents(db, id))
  }
  return {
    runs: own,
    events,
    jobs: jobIds.length,
    cycles: cycleIds.length,
    followUps: followUpIds.length,
  }
}

/** The texts of a run and a usual size for the rest of its row and its attempts. */
async function runBytes(db: Db, id: RunId): Promise<number> {
  const { bytes } = await db
    .selectFrom('runs')
    .select(
      sql<number>`octet_length(prompt) + octet_length(request) + coalesce(octet_length(result_text), 0) + 600 * (1 + attempt_count)`.as(
        'bytes',
      ),
    )
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

const add = (a: Swept, b: Swept): Swept => ({ count: a.count + b.count, bytes: a.bytes + b.bytes })

const EVENT_ROW_BYTES = 80
/** These stay: how the attempts of the run began and ended, and what Reprise itself said. */
const KEPT_EVENTS = ['attempt-start', 'attempt-end', 'run-end', 'stop-request', 'note', 'left-out']

async function countEvents(db: Db, id: RunId, all = true): Promise<Swept> {
  let select = db
    .selectFrom('events')
    .select((eb) => [
      eb.fn.countAll<number>().as('n'),
      sql<number>`coalesce(sum(octet_length(body)), 0)`.as('bytes'),
    ])
    .where('run_id', '=', id)
  if (!all) select = select.where('type', 'not in', KEPT_EVENTS)
  const { n, bytes } = await select.executeTakeFirstOrThrow()
  return { count: Number(n), bytes: Number(bytes) + Number(n) * EVENT_ROW_BYTES }
}

export async function measureEvents(db: Db, id: RunId, before: Date): Promise<Visited<Swept>> {
  const { runIds, may } = await readThinnable(db, id, before)
  if (!may) return { runIds, swept: null }
  let swept = NOTHING
  for (const runId of runIds) swept = add(swept, await countEvents(db, runId, false))
  return { runIds, swept }
}

/** The runs of a group are thinned together, except those that a recurring follow-up started: it may go on for years. */
async function readThinnable(db: Db, id: RunId, before: Date): Promise<{ runIds: RunId[]; may: boolean }> {
  if (await isOldFiring(db, id, before)) return { runIds: [id], may: true }
  const group = await readGroup(db, id)
  return { runIds: idsOf(group), may: await mayThin(db, group, before) }
}

const AT_ONCE = 2000
const RUNS_AT_ONCE = 100

/** Deletes some events of the group's runs. `done`: none is left. */
export async function thinEvents(
  tx: Tx,
  id: RunId,
  before: Date,
): Promise<Visited<Swept> & { done: boolean }> {
  const { runIds, may } = await readThinnable(tx, id, before)
  if (!may) return { runIds, swept: null, done: true }
  const unswept = await tx
    .selectFrom('runs')
    .select('id')
    .where('id', 'in', runIds)
    .where('events_swept', '=', 0)
    .limit(RUNS_AT_ONCE)
    .execute()
  let swept = NOTHING
  for (const { id: runId } of unswept) {
    if (swept.count < AT_ONCE) swept = add(swept, await thinRun(tx, runId, AT_ONCE - swept.count))
  }
  return { runIds, swept, done: unswept.length < RUNS_AT_ONCE && swept.count < AT_ONCE }
}

/**
 * Deletes up to so many events of the run. The transaction that deletes the last ones replaces one of them by a note, so
 * that a reader knows that they are missing.
 */
async function thinRun(tx: Tx, id: RunId, limit: number): Promise<Swept> {
  const old = await tx
    .selectFrom('events')
    .select(['seq', 'at', sql<number>`octet_length(body)`.as('bytes')])
    .where('run_id', '=', id)
    .where('type', 'not in', KEPT_EVENTS)
    .orderBy('seq')
    .limit(limit + 1)
    .execute()
  const done = old.length <= limit
  const gone = done ? old : old.slice(0, limit)
  const end = gone.at(-1)
  if (end)
    await tx
      .deleteFrom('events')
      .where('run_id', '=', id)
      .where('type', 'not in', KEPT_EVENTS)
      .where('seq', '<=', end.seq)
      .execute()
  if (done && end) await noteSwept(tx, id, end)
  if (done) await tx.updateTable('runs').set({ events_swept: 1 }).where('id', '=', id).execute()
  const bytes = gone.reduce((sum, row) => sum + Number(row.bytes) + EVENT_ROW_BYTES, 0)
  return { count: gone.length, bytes }
}

const SWEPT_NOTE = 'What the agent printed was deleted after the time in keep.events.'

async function noteSwept(tx: Tx, runId: RunId, { seq, at }: { seq: number; at: number }): Promise<void> {
  const body = JSON.stringify({ type: 'note', text: SWEPT_NOTE })
  await tx
    .insertInto('events')
    .values({ run_id: runId, seq, attempt_id: null, at, type: 'note', body })
    .execute()
}
