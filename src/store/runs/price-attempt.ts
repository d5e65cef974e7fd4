/**
 * The cost of runs and sessions is the sum of their attempts. An attempt whose price was not known when it ended gets
 * it later, once; its session, its run, and the totals that include the run are updated in the same transaction.
 */
import type { Kysely } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { AttemptRecord } from './attempt-records.ts'
import { selectAttempts } from './attempts.ts'
import { toAttempt } from './rows.ts'

/** Attempts that have ended without a price. */
export async function listUnpriced(db: Kysely<Tables>): Promise<AttemptRecord[]> {
  const rows = await selectAttempts(db)
    .where('attempts.state', '=', 'ended')
    .where('attempts.cost_usd', 'is', null)
    .orderBy('attempts.id')
    .execute()
  return rows.map(toAttempt)
}

/** The sum over the run's ended attempts; null: the price of one of them is not known. */
export async function sumOfAttempts(tx: Tx, runId: RunId): Promise<number | null> {
  const { ended, priced, usd } = await tx
    .selectFrom('attempts')
    .select((eb) => [
      eb.fn.countAll<number>().as('ended'),
      eb.fn.count<number>('cost_usd').as('priced'),
      eb.fn.sum<number | null>('cost_usd').as('usd'),
    ])
    .where('run_id', '=', runId)
    .where('state', '=', 'ended')
    .executeTakeFirstOrThrow()
  return Number(ended) === Number(priced) ? Number(usd ?? 0) : null
}

/** Changes nothing if the attempt has a price by now. */
export async function priceAttempt(
  tx: Tx,
  { id, runId, sessionId }: Pick<AttemptRecord, 'id' | 'runId' | 'sessionId'>,
  costUsd: number,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('attempts')
    .set({ cost_usd: costUsd })
    .where('id', '=', id)
    .where('state', '=', 'ended')
    .where('cost_usd', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return
  await tx
    .updateTable('sessions')
    .set((eb) => ({ cost_usd: eb('cost_usd', '+', costUsd) }))
    .where('id', '=', sessionId)
    .execute()
  const run = await tx
    .selectFrom('runs')
    .select(['state', 'outcome_name', 'fresh_reason', 'cost_usd'])
    .where('id', '=', runId)
    .executeTakeFirst()
  if (!run) return
  const sum = await sumOfAttempts(tx, runId)
  await tx.updateTable('runs').set({ cost_usd: sum }).where('id', '=', runId).execute()
  if (run.state !== 'settled') return
  const added = (sum ?? 0) - (run.cost_usd ?? 0)
  await tx
    .updateTable('totals')
    .set((eb) => ({ cost_usd: eb('cost_usd', '+', added) }))
    .where('outcome', '=', run.outcome_name ?? run.state)
    .where('fresh_reason', '=', run.fresh_reason ?? '')
    .execute()
}
