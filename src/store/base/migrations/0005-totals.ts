import { type Kysely, sql } from 'kysely'

export const totals = {
  number: 5,
  name: 'totals',
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .createTable('totals')
      .addColumn('outcome', 'text', (c) => c.notNull())
      .addColumn('fresh_reason', 'text', (c) => c.notNull())
      .addColumn('runs', 'bigint', (c) => c.notNull())
      .addColumn('attempts', 'bigint', (c) => c.notNull())
      .addColumn('resumed', 'bigint', (c) => c.notNull())
      .addColumn('input_tokens', 'bigint', (c) => c.notNull())
      .addColumn('output_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cache_read_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cache_write_tokens', 'bigint', (c) => c.notNull())
      .addColumn('cost_usd', 'double precision', (c) => c.notNull())
      .addColumn('prompt_chars', 'bigint', (c) => c.notNull())
      .addColumn('transcript_chars', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('totals_pk', ['outcome', 'fresh_reason'])
      .execute()
    await sql`insert into totals
      select coalesce(outcome_name, state), coalesce(fresh_reason, ''), count(*),
        sum(attempt_count), coalesce(sum(resumed), 0), sum(input_tokens), sum(output_tokens),
        sum(cache_read_tokens), sum(cache_write_tokens), coalesce(sum(cost_usd), 0),
        coalesce(sum(prompt_chars), 0), coalesce(sum(transcript_chars), 0)
      from runs where state = 'settled' group by 1, 2`.execute(db)
  },
}
