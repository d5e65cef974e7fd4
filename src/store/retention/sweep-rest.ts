/** Deletes old cycles without runs, old follow-ups whose runs are gone, and the old part of the record of who did what. */
import { type Kysely, sql } from 'kysely'
import type { CycleId, FollowUpId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { isAmongNewest } from './group.ts'
import { deleteTraces } from './sweep-runs.ts'

type Db = Kysely<Tables>

const AT_ONCE = 500
const ALL = 1_000_000

export type OldRows = 'cycles' | 'follow-ups' | 'audit'

export async function countOld(db: Db, what: OldRows, before: Date): Promise<number> {
  if (what === 'cycles') return (await listOldCycles(db, before, ALL)).length
  if (what === 'follow-ups') return (await listOldFollowUps(db, before, ALL)).length
  const { n } = await db
    .selectFrom('audit')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('at', '<', before.getTime())
    .executeTakeFirstOrThrow()
  return Number(n)
}

/** Returns how many were deleted in this step; the caller repeats it until there are none. */
export const deleteOld = (tx: Tx, what: OldRows, before: Date): Promise<number> => DELETE[what](tx, before)

/** Skipped cycles, and those that ended before they had a run. Those that must stay do not count for the limit. */
async function listOldCycles(db: Db, before: Date, limit: number): Promise<CycleId[]> {
  const old: CycleId[] = []
  for (let after: CycleId | null = null; ; ) {
    const page: CycleId[] = await listWithoutRuns(db, before, after)
    for (const id of page) {
      if (!(await isAmongNewest(db, id))) old.push(id)
      if (old.length === limit) return old
    }
    after = page.at(-1) ?? null
    if (page.length < AT_ONCE) return old
  }
}

async function listWithoutRuns(db: Db, before: Date, after: CycleId | null): Promise<CycleId[]> {
  const rows = await db
    .selectFrom('cycles')
    .select('id')
    .where('state', 'in', ['ended', 'skipped'])
    .where(sql<boolean>`coalesce(ended_at, due_at) < ${before.getTime()}`)
    .where(sql<boolean>`not exists (select 1 from runs where runs.cycle_id = cycles.id)`)
    .$if(after !== null, (query) => query.where('id', '>', after as CycleId))
    .orderBy('id')
    .limit(AT_ONCE)
    .execute()
  return rows.map(({ id }) => id)
}

async function listOldFollowUps(db: Db, before: Date, limit: number): Promise<FollowUpId[]> {
  const exists = (column: 'run_id' | 'root_run_id' | 'fired_run_id') =>
    sql<boolean>`exists (select 1 from runs where runs.id = follow_ups.${sql.ref(column)})`
  const rows = await db
    .selectFrom('follow_ups')
    .select('id')
    .where('state', '<>', sql.lit('planned'))
    .where('ended_at', '<', before.getTime())
    .where(sql<boolean>`not (${exists('run_id')} or ${exists('root_run_id')} or ${exists('fired_run_id')})`)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

async function deleteOldCycles(tx: Tx, before: Date): Promise<number> {
  const ids = await listOldCycles(tx, before, AT_ONCE)
  for (const id of ids) {
    await deleteTraces(tx, id)
    await tx.deleteFrom('cycles').where('id', '=', id).execute()
  }
  return ids.length
}

async function deleteOldFollowUps(tx: Tx, before: Date): Promise<number> {
  const ids = await listOldFollowUps(tx, before, AT_ONCE)
  for (const id of ids) {
    await deleteTraces(tx, id)
    await tx.deleteFrom('follow_ups').where('id', '=', id).execute()
  }
  return ids.length
}

async function deleteOldAudit(tx: Tx, before: Date): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('audit')
    .where('id', 'in', (eb) =>
      eb.selectFrom('audit').select('id').where('at', '<', before.getTime()).limit(AT_ONCE),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

const DELETE: Record<OldRows, (tx: Tx, before: Date) => Promise<number>> = {
  cycles: deleteOldCycles,
  'follow-ups': deleteOldFollowUps,
  audit: deleteOldAudit,
}
