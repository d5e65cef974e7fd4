/** Adds the costs of a run to those of its half hour when the run is deleted, so that past periods stay right. */
import type { Kysely } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import type { CostRow } from '../../contract/overview.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { BUCKET_MS, type CostPeriod, costKey, sumCosts, toCostRow } from '../runs/costs.ts'
import type { PastCostsTable } from './schema.ts'

const SUMS = [
  'runs',
  'failed',
  'cancelled',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_usd',
  'saved_usd',
] as const satisfies (keyof PastCostsTable)[]

/** To be called in the transaction that deletes the run, before it does. */
export async function keepCosts(tx: Tx, id: RunId): Promise<void> {
  for (const { at, agent, model, tier, purpose, usage, ...sums } of await sumCosts(tx, { runId: id })) {
    const bucket = Date.parse(at) / BUCKET_MS
    await tx
      .insertInto('past_costs')
      .values({
        key: costKey({ bucket, agent, model, tier, purpose }),
        bucket,
        agent,
        model,
        tier,
        purpose,
        runs: sums.runs,
        failed: sums.failed,
        cancelled: sums.cancelled,
        input_tokens: usage.inputTokens,
        output_tokens: usage.outputTokens,
        cache_read_tokens: usage.cacheReadTokens,
        cache_write_tokens: usage.cacheWriteTokens,
        cost_usd: sums.costUsd,
        saved_usd: sums.savedUsd,
      })
      .onConflict((oc) =>
        oc
          .column('key')
          .doUpdateSet((eb) =>
            Object.fromEntries(
              SUMS.map((sum) => [sum, eb(`past_costs.${sum}`, '+', eb.ref(`excluded.${sum}`))]),
            ),
          ),
      )
      .execute()
  }
}

/** The costs of a period, of runs that are stored and of those that were deleted. */
export async function listCosts(db: Kysely<Tables>, period: CostPeriod): Promise<CostRow[]> {
  const rows = new Map<string, CostRow>()
  for (const row of [...(await listPast(db, period)), ...(await sumCosts(db, period))]) {
    const key = costKey({ ...row, bucket: Date.parse(row.at) / BUCKET_MS })
    const other = rows.get(key)
    rows.set(key, other ? add(other, row) : row)
  }
  return [...rows.values()].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

async function listPast(db: Kysely<Tables>, { since, until }: CostPeriod): Promise<CostRow[]> {
  const rows = await db
    .selectFrom('past_costs')
    .selectAll()
    .where('bucket', '>=', Math.floor(since.getTime() / BUCKET_MS))
    .where('bucket', '<', (until?.getTime() ?? Number.MAX_SAFE_INTEGER) / BUCKET_MS)
    .execute()
  return rows.map(toCostRow)
}

const add = (a: CostRow, b: CostRow): CostRow => ({
  ...a,
  runs: a.runs + b.runs,
  failed: a.failed + b.failed,
  cancelled: a.cancelled + b.cancelled,
  usage: {
    inputTokens: a.usage.inputTokens + b.usage.inputTokens,
    outputTokens: a.usage.outputTokens + b.usage.outputTokens,
    cacheReadTokens: a.usage.cacheReadTokens + b.usage.cacheReadTokens,
    cacheWriteTokens: a.usage.cacheWriteTokens + b.usage.cacheWriteTokens,
  },
  costUsd: a.costUsd + b.costUsd,
  savedUsd: a.savedUsd + b.savedUsd,
})
