/** Queries on cycles. */
import { type Kysely, sql } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { Page } from '../../contract/http.ts'
import { CycleId, type WatchId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { CycleRecord } from './records.ts'
import { toCycle } from './rows.ts'

export async function getCycle(db: Kysely<Tables>, id: CycleId): Promise<CycleRecord | null> {
  const row = await db.selectFrom('cycles').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? toCycle(row) : null
}

/** Queued and open cycles, of one watch or of all. */
export async function listUnfinished(db: Kysely<Tables>, watchId: WatchId | null): Promise<CycleRecord[]> {
  const unfinished = db
    .selectFrom('cycles')
    .selectAll()
    .where('state', 'in', sql`('queued', 'open')` as never)
    .orderBy('id')
  const rows = await (watchId === null ? unfinished : unfinished.where('watch_id', '=', watchId)).execute()
  return rows.map(toCycle)
}

export interface CycleQuery {
  limit: number
  cursor?: string | undefined
  watchId: WatchId
  /** Only cycles that have started and ended. */
  worked?: boolean
}

/** Newest first. */
export async function listCycles(
  db: Kysely<Tables>,
  { limit, cursor, watchId, worked = false }: CycleQuery,
): Promise<Page<CycleRecord>> {
  let select = db
    .selectFrom('cycles')
    .selectAll()
    .where('watch_id', '=', watchId)
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (cursor !== undefined) {
    if (!CycleId.is(cursor))
      throw new RepriseError('bad-request', 'cursor: expected the `nextCursor` of a previous page')
    select = select.where('id', '<', cursor)
  }
  if (worked) select = select.where('state', '=', 'ended').where('root_run_id', 'is not', null)
  const rows = await select.execute()
  const items = rows.slice(0, limit).map(toCycle)
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
}
