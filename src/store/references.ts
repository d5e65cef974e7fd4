/** Finds ids by their beginning or their end. */
import type { Kysely } from 'kysely'
import { PREFIX_OF, type Referable } from '../contract/reference.ts'
import type { Tables } from './base/schema.ts'

const TABLE_OF = {
  run: 'runs',
  job: 'jobs',
  conversation: 'conversations',
  session: 'sessions',
  watch: 'watches',
  cycle: 'cycles',
  'follow-up': 'follow_ups',
} as const satisfies Readonly<Record<Referable, keyof Tables>>

/**
 * The ids whose part after the prefix begins or ends with `body`, newest first; all if it is empty. The beginning is
 * found by the index; for the end, all ids of the kind are read.
 */
export async function findIds(
  db: Kysely<Tables>,
  kind: Referable,
  body: string,
  limit: number,
): Promise<string[]> {
  const start = `${PREFIX_OF[kind]}_${body}`
  const rows = await db
    .selectFrom(TABLE_OF[kind])
    .select('id')
    .where((eb) =>
      eb.or([
        // A tilde sorts after all characters of ids.
        eb.and([eb('id', '>=', start as never), eb('id', '<', `${start}~` as never)]),
        ...(body === '' ? [] : [eb('id', 'like', `%${body}` as never)]),
      ]),
    )
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
