/**
 * Watches from the configuration or created by people. A removed watch keeps its cycles; its name can be used again.
 */
import type { Kysely } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { WatchId } from '../../contract/ids.ts'
import type { WatchDefinition } from '../../contract/watch.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { addCycle, dropQueued, type NewCycle } from './cycles.ts'
import type { CycleRecord, WatchRecord } from './records.ts'
import { toRow, toWatch } from './rows.ts'

export async function addWatch(tx: Tx, watch: WatchRecord): Promise<WatchRecord> {
  const added = await tx
    .insertInto('watches')
    .values(toRow(watch))
    .onConflict((oc) => oc.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!added) {
    const known = await findWatch(tx, watch.name)
    throw new RepriseError('conflict', `a watch named ${watch.name} exists already`, {
      hint: `Choose another name, or change it: reprise watch show ${watch.name}`,
      details: { watchId: known?.id },
    })
  }
  return watch
}

export interface WatchChange {
  definition?: WatchDefinition
  source?: WatchRecord['source']
  state?: WatchRecord['state']
  due?: WatchRecord['due']
  /** null: the next cycle starts a new memory. */
  memory?: null
}

export async function updateWatch(
  tx: Tx,
  id: WatchId,
  { definition, source, state, due, memory }: WatchChange,
  at: Date,
): Promise<WatchRecord | null> {
  const row = await tx
    .updateTable('watches')
    .set({
      updated_at: at.getTime(),
      ...(definition && { definition: JSON.stringify(definition) }),
      ...(source && { source }),
      ...(state && { state }),
      ...(due !== undefined && { due_at: due?.at.getTime() ?? null, next_at: due?.fireAt.getTime() ?? null }),
      ...(memory === null && { session_id: null, session_since: null, session_cycles: 0 }),
    })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row ? toWatch(row) : null
}

/** Also cancels its queued cycles; an open cycle continues. Returns false if it was removed already. */
export async function removeWatch(tx: Tx, id: WatchId, at: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('watches')
    .set({ removed_at: at.getTime(), next_at: null, due_at: null })
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await dropQueued(tx, id, at)
  return true
}

/** Finds a watch by id or by name. */
export async function findWatch(db: Kysely<Tables>, idOrName: string): Promise<WatchRecord | null> {
  const row = await db
    .selectFrom('watches')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', idOrName as WatchId), eb('name', '=', idOrName)]))
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return row ? toWatch(row) : null
}

/** Also returns a removed watch. */
export async function getWatch(db: Kysely<Tables>, id: WatchId): Promise<WatchRecord | null> {
  const row = await db.selectFrom('watches').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? toWatch(row) : null
}

export async function listWatches(db: Kysely<Tables>): Promise<WatchRecord[]> {
  const rows = await db
    .selectFrom('watches')
    .selectAll()
    .where('removed_at', 'is', null)
    .orderBy('name')
    .execute()
  return rows.map(toWatch)
}

export async function listDueWatches(db: Kysely<Tables>, now: Date, limit: number): Promise<WatchRecord[]> {
  const rows = await db
    .selectFrom('watches')
    .selectAll()
    .where('next_at', '<=', now.getTime())
    .where('removed_at', 'is', null)
    .orderBy('next_at')
    .limit(limit)
    .execute()
  return rows.map(toWatch)
}

export async function nextWatchAt(db: Kysely<Tables>): Promise<Date | null> {
  const row = await db
    .selectFrom('watches')
    .select((eb) => eb.fn.min('next_at').as('at'))
    .where('next_at', 'is not', null)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return row?.at == null ? null : new Date(Number(row.at))
}

/**
 * Fires the schedule and stores when the next firing is due: both or neither, and once. null: it was not due any more.
 */
export async function fireWatch(
  tx: Tx,
  { id, due }: WatchRecord,
  cycle: NewCycle,
  next: WatchRecord['due'],
): Promise<CycleRecord | null> {
  const { numUpdatedRows } = await tx
    .updateTable('watches')
    .set({ due_at: next?.at.getTime() ?? null, next_at: next?.fireAt.getTime() ?? null })
    .where('id', '=', id)
    .where('due_at', '=', due?.at.getTime() ?? -1)
    .where('state', '=', 'active')
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 0n ? null : addCycle(tx, cycle)
}
