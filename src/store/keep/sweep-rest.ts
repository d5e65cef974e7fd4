/** Deletes old cycles without runs and old follow-ups whose runs are gone. Without a transaction it only counts them. */
import { type Kysely, sql } from 'kysely'
import type { CycleId, FollowUpId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { isAmongNewest } from './group.ts'
import { deleteTraces } from './sweep-runs.ts'

type Db = Kysely<Tables>

const AT_ONCE = 500

/** Skipped cycles, and those that ended before they had a run. Those that must stay do not count for the limit. */
export async function listOldCycles(db: Db, before: Date, limit: number): Promise<CycleId[]> {
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

export async function listOldFollowUps(db: Db, before: Date, limit: number): Promise<FollowUpId[]> {
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

/** Returns how many were deleted in this step; the caller repeats it until there are none. */
export async function deleteOldCycles(tx: Tx, before: Date): Promise<number> {
  const ids = await listOldCycles(tx, before, AT_ONCE)
  for (const id of ids) {
    await deleteTraces(tx, id)
    await tx.deleteFrom('cycles').where('id', '=', id).execute()
  }
  return ids.length
}

export async function deleteOldFollowUps(tx: Tx, before: Date): Promise<number> {
  const ids = await listOldFollowUps(tx, before, AT_ONCE)
  for (const id of ids) {
    await deleteTraces(tx, id)
    await tx.deleteFrom('follow_ups').where('id', '=', id).execute()
  }
  return ids.length
}
