/** Sums over all resumed turns of how they used the prompt cache, by the cause of what had to be written again. */
import type { Kysely } from 'kysely'
import type { CacheCause, CacheStats, CacheUse } from '../../contract/cache.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'

/** Turns that found the expected cache. */
const NO_CAUSE = ''

export async function countCacheUse(tx: Tx, use: CacheUse): Promise<void> {
  const row = {
    cause: use.cause ?? NO_CAUSE,
    turns: 1,
    expected_tokens: use.expectedReadTokens,
    read_tokens: use.readTokens,
    written_tokens: use.writtenTokens,
    rewritten_tokens: use.rewrittenTokens,
    rewrite_usd: use.rewriteUsd ?? 0,
    saved_usd: use.savedUsd ?? 0,
  }
  const { cause: _, ...sums } = row
  await tx
    .insertInto('cache_totals')
    .values(row)
    .onConflict((oc) =>
      oc
        .column('cause')
        .doUpdateSet((eb) =>
          Object.fromEntries(
            Object.keys(sums).map((sum) => [
              sum,
              eb(
                `cache_totals.${sum as keyof typeof sums}`,
                '+',
                eb.ref(`excluded.${sum as keyof typeof sums}`),
              ),
            ]),
          ),
        ),
    )
    .execute()
}

export async function readCacheStats(db: Kysely<Tables>): Promise<CacheStats> {
  const rows = await db.selectFrom('cache_totals').selectAll().execute()
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((n, row) => n + Number(of(row)), 0)
  const rewrites = rows
    .filter(({ cause }) => cause !== NO_CAUSE)
    .map(({ cause, turns, rewritten_tokens, rewrite_usd }) => [
      cause as CacheCause,
      { turns: Number(turns), tokens: Number(rewritten_tokens), costUsd: Number(rewrite_usd) },
    ])
  return {
    resumedTurns: sum((row) => row.turns),
    expectedReadTokens: sum((row) => row.expected_tokens),
    readTokens: sum((row) => row.read_tokens),
    writtenTokens: sum((row) => row.written_tokens),
    rewrittenTokens: sum((row) => row.rewritten_tokens),
    rewriteUsd: sum((row) => row.rewrite_usd),
    savedUsd: sum((row) => row.saved_usd),
    rewrites: Object.fromEntries(rewrites),
  }
}
