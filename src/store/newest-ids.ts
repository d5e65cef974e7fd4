/** The greatest id of each kind. New ids must sort after them, also if the clock has been set back since. */
import type { Kysely } from 'kysely'
import type { Tables } from './base/schema.ts'

const TABLES = [
  'runs',
  'attempts',
  'processes',
  'sessions',
  'conversations',
  'messages',
  'jobs',
  'notifications',
  'actions',
  'watches',
  'cycles',
  'follow_ups',
] as const satisfies readonly (keyof Tables)[]

export async function listNewestIds(db: Kysely<Tables>): Promise<string[]> {
  const newest: string[] = []
  for (const table of TABLES) {
    const row = await db
      .selectFrom(table)
      .select((eb) => eb.fn.max('id').as('id'))
      .executeTakeFirst()
    if (row?.id != null) newest.push(row.id)
  }
  return newest
}
