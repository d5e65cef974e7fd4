/** Totals over all runs: what was done, what it cost, and what resuming saved. */
import { type Kysely, sql } from 'kysely'
import type { Stats } from '../contract/stats.ts'
import type { Tables } from './schema.ts'

export async function readStats(db: Kysely<Tables>): Promise<Stats> {
  const totals = await db
    .selectFrom('runs')
    .select((eb) => [
      eb.fn.countAll<number>().as('runs'),
      eb.fn.sum<number>('attempt_count').as('attempts'),
      eb.fn.sum<number>('resumed').as('resumed'),
      eb.fn.sum<number>('input_tokens').as('input'),
      eb.fn.sum<number>('output_tokens').as('output'),
      eb.fn.sum<number>('cache_read_tokens').as('cacheRead'),
      eb.fn.sum<number>('cache_write_tokens').as('cacheWrite'),
      eb.fn.sum<number>('cost_usd').as('cost'),
      eb.fn.sum<number>('prompt_chars').as('prompt'),
      eb.fn.sum<number>('transcript_chars').as('transcript'),
    ])
    .executeTakeFirstOrThrow()
  const outcomes = await countBy(db, sql<string>`coalesce(outcome_name, state)`)
  const fresh = await countBy(db, sql<string>`fresh_reason`)
  const conversations = await db
    .selectFrom('conversations')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const n = (value: number | null) => Number(value ?? 0)
  return {
    runs: n(totals.runs),
    attempts: n(totals.attempts),
    conversations: n(conversations.n),
    resumedRuns: n(totals.resumed),
    outcomes,
    freshReasons: fresh,
    usage: {
      inputTokens: n(totals.input),
      outputTokens: n(totals.output),
      cacheReadTokens: n(totals.cacheRead),
      cacheWriteTokens: n(totals.cacheWrite),
    },
    costUsd: n(totals.cost),
    promptTokensSent: tokensOf(n(totals.prompt)),
    promptTokensOfTranscripts: tokensOf(n(totals.transcript)),
    promptTokensSaved: tokensOf(n(totals.transcript)) - tokensOf(n(totals.prompt)),
  }
}

async function countBy(
  db: Kysely<Tables>,
  key: ReturnType<typeof sql<string>>,
): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('runs')
    .select((eb) => [key.as('key'), eb.fn.countAll<number>().as('n')])
    .where(key, 'is not', null)
    .groupBy(key)
    .execute()
  return Object.fromEntries(rows.map((row) => [row.key, Number(row.n)]))
}

const tokensOf = (chars: number) => Math.round(chars / 4)
