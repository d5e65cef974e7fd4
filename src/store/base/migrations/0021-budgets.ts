import { type Kysely, sql } from 'kysely'

export const budgets = {
  number: 21,
  name: 'budgets',
  up: async (db: Kysely<unknown>): Promise<void> => {
    // The job or run that a follow-up's run descends from. They share one budget.
    await db.schema.alterTable('runs').addColumn('budget_of', 'text').execute()
    await sql`create index runs_by_budget on runs (budget_of) where budget_of is not null`.execute(db)
  },
}
