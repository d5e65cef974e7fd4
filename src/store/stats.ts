/** Totals over all runs: what was done, what it cost, and what resuming saved. */
import type { Kysely } from 'kysely'
import type { Stats } from '../contract/stats.ts'
import type { Tables } from './base/schema.ts'
import { readCacheStats } from './runs/cache-totals.ts'
import { readTotals } from './runs/totals.ts'
import type { TotalsTable } from './runs/totals-schema.ts'

export async function readStats(db: Kysely<Tables>): Promise<Stats> {
  const totals = await readTotals(db)
  const conversations = await db
    .selectFrom('conversations')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  const sum = (of: (row: TotalsTable) => number) => totals.reduce((n, row) => n + of(row), 0)
  const prompt = tokensOf(sum((row) => row.prompt_chars))
  const transcript = tokensOf(sum((row) => row.transcript_chars))
  return {
    runs: sum((row) => row.runs),
    attempts: sum((row) => row.attempts),
    conversations: Number(conversations.n),
    resumedRuns: sum((row) => row.resumed),
    outcomes: countBy(totals, (row) => row.outcome),
    freshReasons: countBy(totals, (row) => row.fresh_reason),
    usage: {
      inputTokens: sum((row) => row.input_tokens),
      outputTokens: sum((row) => row.output_tokens),
      cacheReadTokens: sum((row) => row.cache_read_tokens),
      cacheWriteTokens: sum((row) => row.cache_write_tokens),
    },
    costUsd: sum((row) => row.cost_usd),
    promptTokensSent: prompt,
    promptTokensOfTranscripts: transcript,
    promptTokensSaved: transcript - prompt,
    cache: await readCacheStats(db),
  }
}

function countBy(
  totals: readonly TotalsTable[],
  keyOf: (row: TotalsTable) => string,
): Record<string, number> {
  const counts = new Map<string, number>()
  for (const row of totals) {
    const key = keyOf(row)
    if (key !== '') counts.set(key, (counts.get(key) ?? 0) + row.runs)
  }
  return Object.fromEntries(counts)
}

const tokensOf = (chars: number) => Math.round(chars / 4)
