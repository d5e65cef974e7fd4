/** Sums over stored runs by the half hour in which they ended, and the runs that failed. */
import { type Kysely, sql } from 'kysely'
import type { CacheUse } from '../../contract/cache.ts'
import type { RunId } from '../../contract/ids.ts'
import type { CostRow } from '../../contract/overview.ts'
import type { Tables } from '../base/schema.ts'
import type { RunRecord } from './records.ts'
import { toRun } from './rows.ts'

export const BUCKET_MS = 1_800_000

export interface CostPeriod {
  since: Date
  until?: Date | undefined
}

type Purpose = CostRow['purpose']

/** The costs of a period, or of one run. */
type Of = CostPeriod | { runId: RunId }

const isOf = (of: Of) =>
  'runId' in of
    ? sql<boolean>`runs.id = ${of.runId} and runs.ended_at is not null`
    : sql<boolean>`runs.ended_at >= ${of.since.getTime()} and runs.ended_at < ${of.until?.getTime() ?? Number.MAX_SAFE_INTEGER}`

/** The keys of a sum, in one text. */
export const costKey = (row: {
  bucket: number
  agent: string
  model: string | null
  tier: number | null
  purpose: Purpose
}) => JSON.stringify([Number(row.bucket), row.agent, row.model, row.tier, row.purpose])

const purposeOf = (table: 'runs') => sql<Purpose>`case
  when ${sql.ref(`${table}.job_id`)} is not null then 'job'
  when ${sql.ref(`${table}.conversation_id`)} is not null then 'conversation'
  when ${sql.ref(`${table}.cycle_id`)} is not null then 'watch'
  else 'run' end`

export async function sumCosts(db: Kysely<Tables>, of: Of): Promise<CostRow[]> {
  const saved = await readSaved(db, of)
  const rows = await db
    .selectFrom('runs')
    .select(({ fn }) => [
      sql<number>`ended_at / ${sql.lit(BUCKET_MS)}`.as('bucket'),
      'agent',
      'model',
      'tier',
      purposeOf('runs').as('purpose'),
      fn.countAll<number>().as('runs'),
      sql<number>`sum(case when outcome_name in ('completed', 'cancelled') then 0 else 1 end)`.as('failed'),
      sql<number>`sum(case when outcome_name = 'cancelled' then 1 else 0 end)`.as('cancelled'),
      fn.sum<number>('input_tokens').as('input_tokens'),
      fn.sum<number>('output_tokens').as('output_tokens'),
      fn.sum<number>('cache_read_tokens').as('cache_read_tokens'),
      fn.sum<number>('cache_write_tokens').as('cache_write_tokens'),
      fn.sum<number | null>('cost_usd').as('cost_usd'),
    ])
    .where(isOf(of))
    .groupBy(['bucket', 'agent', 'model', 'tier', 'purpose'])
    .orderBy('bucket')
    .execute()
  return rows.map((row) => toCostRow({ ...row, saved_usd: saved.get(costKey(row)) ?? 0 }))
}

/** A sum as it is in the database. */
export interface CostSums {
  /** The half hour in which the runs ended, counted from 1970. */
  bucket: number
  agent: string
  model: string | null
  tier: number | null
  purpose: Purpose
  runs: number
  failed: number
  cancelled: number
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  cost_usd: number
  saved_usd: number
}

/** A database may return numbers as texts, and no sum where nothing was added. */
export const toCostRow = (row: Omit<CostSums, 'cost_usd'> & { cost_usd: number | null }): CostRow => ({
  at: new Date(Number(row.bucket) * BUCKET_MS).toISOString(),
  agent: row.agent,
  model: row.model,
  tier: row.tier,
  purpose: row.purpose,
  runs: Number(row.runs),
  failed: Number(row.failed),
  cancelled: Number(row.cancelled),
  usage: {
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    cacheReadTokens: Number(row.cache_read_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
  },
  costUsd: Number(row.cost_usd ?? 0),
  savedUsd: Number(row.saved_usd),
})

/** The savings by resuming, counted in the half hour in which the run ended. */
async function readSaved(db: Kysely<Tables>, of: Of): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('runs')
    .innerJoin('attempts', 'attempts.run_id', 'runs.id')
    .select([
      sql<number>`runs.ended_at / ${sql.lit(BUCKET_MS)}`.as('bucket'),
      'runs.agent',
      'runs.model',
      'runs.tier',
      purposeOf('runs').as('purpose'),
      'attempts.cache_use as cacheUse',
    ])
    .where('attempts.cache_use', 'is not', null)
    .where(isOf(of))
    .execute()
  const sums = new Map<string, number>()
  for (const row of rows) {
    const { savedUsd } = JSON.parse(row.cacheUse ?? '{}') as Partial<CacheUse>
    const key = costKey(row)
    sums.set(key, (sums.get(key) ?? 0) + (savedUsd ?? 0))
  }
  return sums
}

/** Newest first. */
export async function listFailures(db: Kysely<Tables>, since: Date, limit: number): Promise<RunRecord[]> {
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('ended_at', '>=', since.getTime())
    .where('outcome_name', 'not in', ['completed', 'cancelled'])
    .orderBy('ended_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toRun)
}
