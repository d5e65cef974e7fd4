/** Small things worth remembering across restarts, and what a request that came with a key has made. */
import type { Kysely } from 'kysely'
import { findMade, type RequestKey } from './request-keys.ts'
import type { Tables } from './schema.ts'
import type { Write } from './transaction.ts'

export interface FactStore {
  getFact: (key: string) => Promise<string | null>
  putFact: (key: string, value: string) => Promise<void>
  /** The id of what a request with this key made; one with the same key and other wishes is refused. */
  findMade: (key: RequestKey) => Promise<string | null>
}

export function createFactStore(reader: Kysely<Tables>, write: Write): FactStore {
  return {
    getFact: async (key) => {
      const row = await reader.selectFrom('facts').select('value').where('key', '=', key).executeTakeFirst()
      return row?.value ?? null
    },
    putFact: (key, value) =>
      write(async (tx) => {
        await tx
          .insertInto('facts')
          .values({ key, value })
          .onConflict((oc) => oc.column('key').doUpdateSet({ value }))
          .execute()
      }),
    findMade: (key) => findMade(reader, key),
  }
}
