/**
 * Sums over runs. The sums over settled runs are updated by the transaction that settles one, so that counting does not
 * get slower with a million past runs. Open runs are few and are added up on request.
 */
import { type Kysely, sql } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { TotalsTable } from './totals-schema.ts'

type Sums = Omit<TotalsTable, 'outcome' | 'fresh_reason'>

const SUMS = [
  'runs',
  'attempts',
  'resumed',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_usd',
  'prompt_chars',
  'transcript_chars',
] as const satisfies (keyof Sums)[]

/** Adds a run that has just settled. */
export async function countSettled(tx: Tx, id: RunId): Promise<void> {
  await tx
    .insertInto('totals')
    .columns(['outcome', 'fresh_reason', ...SUMS])
    .expression((eb) =>
      eb
        .selectFrom('runs')
        .select([
          sql<string>`coalesce(outcome_name, state)`.as('outcome'),
          sql<string>`coalesce(fresh_reason, '')`.as('fresh_reason'),
          sql<number>`1`.as('runs'),
          'attempt_count as attempts',
          sql<number>`coalesce(resumed, 0)`.as('resumed'),
          'input_tokens',
          'output_tokens',
          'cache_read_tokens',
          'cache_write_tokens',
          sql<number>`coalesce(cost_usd, 0)`.as('cost_usd'),
          sql<number>`coalesce(prompt_chars, 0)`.as('prompt_chars'),
          sql<number>`coalesce(transcript_chars, 0)`.as('transcript_chars'),
        ])
        .where('id', '=', id),
    )
    .onConflict((oc) =>
      oc
        .columns(['outcome', 'fresh_reason'])
        .doUpdateSet((eb) =>
          Object.fromEntries(SUMS.map((sum) => [sum, eb(`totals.${sum}`, '+', eb.ref(`excluded.${sum}`))])),
        ),
    )
    .execute()
}

/** Settled and open runs, grouped by outcome (or state, if there is none yet) and reason. */
export async function readTotals(db: Kysely<Tables>): Promise<TotalsTable[]> {
  const settled = await db.selectFrom('totals').selectAll().execute()
  const open = await db
    .selectFrom('runs')
    .select((eb) => [
      'state as outcome',
      sql<string>`coalesce(fresh_reason, '')`.as('fresh_reason'),
      eb.fn.countAll<number>().as('runs'),
      eb.fn.sum<number>('attempt_count').as('attempts'),
      sql<number>`coalesce(sum(resumed), 0)`.as('resumed'),
      eb.fn.sum<number>('input_tokens').as('input_tokens'),
      eb.fn.sum<number>('output_tokens').as('output_tokens'),
      eb.fn.sum<number>('cache_read_tokens').as('cache_read_tokens'),
      eb.fn.sum<number>('cache_write_tokens').as('cache_write_tokens'),
      sql<number>`coalesce(sum(cost_usd), 0)`.as('cost_usd'),
      sql<number>`coalesce(sum(prompt_chars), 0)`.as('prompt_chars'),
      sql<number>`coalesce(sum(transcript_chars), 0)`.as('transcript_chars'),
    ])
    .where('state', '<>', 'settled')
    .groupBy(['state', sql`coalesce(fresh_reason, '')`])
    .execute()
  return [...settled, ...open].map(toNumbers)
}

/** A database may return big numbers as text. */
function toNumbers(row: TotalsTable): TotalsTable {
  const sums = Object.fromEntries(SUMS.map((sum) => [sum, Number(row[sum])])) as unknown as Sums
  return { outcome: row.outcome, fresh_reason: row.fresh_reason, ...sums }
}
