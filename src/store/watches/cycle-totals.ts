/** What cycles and watches have spent. */
import type { Kysely } from 'kysely'
import type { CycleId, WatchId } from '../../contract/ids.ts'
import { NO_USAGE, type Usage } from '../../contract/outcome.ts'
import type { Tables } from '../base/schema.ts'
import type { RunSpend } from '../runs/records.ts'
import { toSpend } from '../runs/rows.ts'

export interface CycleTotals {
  runs: number
  open: number
  tier: number | null
  usage: Usage
  costUsd: number | null
  estimated: boolean
}

export const NO_TOTALS: CycleTotals = {
  runs: 0,
  open: 0,
  tier: null,
  usage: NO_USAGE,
  costUsd: null,
  estimated: false,
}

/** The spending of runs that were created since then in cycles of a watch. */
export async function listSpendOfWatch(
  db: Kysely<Tables>,
  id: WatchId,
  since: Date,
): Promise<Pick<RunSpend, 'usage' | 'costUsd'>[]> {
  const rows = await db
    .selectFrom('cycles')
    .innerJoin('runs', 'runs.cycle_id', 'cycles.id')
    .select([
      'runs.input_tokens',
      'runs.output_tokens',
      'runs.cache_read_tokens',
      'runs.cache_write_tokens',
      'runs.cost_usd',
    ])
    .where('cycles.watch_id', '=', id)
    .where((eb) => eb.or([eb('cycles.ended_at', 'is', null), eb('cycles.ended_at', '>=', since.getTime())]))
    .where('runs.created_at', '>=', since.getTime())
    .where('runs.attempt_count', '>', 0)
    .execute()
  return rows.map(toSpend)
}

/** The totals of the runs of each cycle. */
export async function readCycleTotals(
  db: Kysely<Tables>,
  ids: readonly CycleId[],
): Promise<Map<CycleId, CycleTotals>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('runs')
    .select((eb) => [
      'cycle_id',
      eb.fn.countAll<number>().as('runs'),
      eb.fn.sum<number>(eb.case().when('state', '<>', 'settled').then(1).else(0).end()).as('open'),
      eb.fn.max('tier').as('tier'),
      eb.fn.sum<number>('input_tokens').as('input'),
      eb.fn.sum<number>('output_tokens').as('output'),
      eb.fn.sum<number>('cache_read_tokens').as('read'),
      eb.fn.sum<number>('cache_write_tokens').as('write'),
      eb.fn.sum<number | null>('cost_usd').as('cost'),
      eb.fn
        .sum<number>(
          eb
            .case()
            .when(eb.and([eb('cost_usd', 'is', null), eb('output_tokens', '>', 0)]))
            .then(1)
            .else(0)
            .end(),
        )
        .as('unpriced'),
      eb.fn.max('cost_estimated').as('estimated'),
    ])
    .where('cycle_id', 'in', ids)
    .groupBy('cycle_id')
    .execute()
  return new Map(
    rows.map((row) => [
      row.cycle_id as CycleId,
      {
        runs: Number(row.runs),
        open: Number(row.open),
        tier: row.tier === null ? null : Number(row.tier),
        usage: {
          inputTokens: Number(row.input),
          outputTokens: Number(row.output),
          cacheReadTokens: Number(row.read),
          cacheWriteTokens: Number(row.write),
        },
        costUsd: row.cost === null || Number(row.unpriced) > 0 ? null : Number(row.cost),
        estimated: Number(row.estimated) === 1,
      },
    ]),
  )
}
