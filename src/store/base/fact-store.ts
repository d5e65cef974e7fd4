/** Small facts that are kept across restarts, and what was created for requests with an idempotency key. */
import type { Kysely } from 'kysely'
import { findMade, type RequestKey } from './request-keys.ts'
import type { Tables } from './schema.ts'
import type { GroupWriter } from './writer.ts'

export interface FactStore {
  getFact: (key: string) => Promise<string | null>
  /** For what is observed again and again: after a power cut, an older value may be found. */
  putFact: (key: string, value: string) => Promise<void>
  /** Sets a fact that is set only once. Returns the stored value: this one, or the one that was stored first. */
  claimFact: (key: string, value: string) => Promise<string>
  /** The id of what a request with this key created. The same key with a different request is refused. */
  findMade: (key: RequestKey) => Promise<string | null>
}

export function createFactStore(reader: Kysely<Tables>, { write, writeUnflushed }: GroupWriter): FactStore {
  return {
    getFact: async (key) => {
      const row = await reader.selectFrom('facts').select('value').where('key', '=', key).executeTakeFirst()
      return row?.value ?? null
    },
    putFact: (key, value) =>
      writeUnflushed(async (tx) => {
        await tx
          .insertInto('facts')
          .values({ key, value })
          .onConflict((oc) => oc.column('key').doUpdateSet({ value }))
          .execute()
      }),
    claimFact: (key, value) =>
      write(async (tx) => {
        await tx
          .insertInto('facts')
          .values({ key, value })
          .onConflict((oc) => oc.doNothing())
          .execute()
        const row = await tx.selectFrom('facts').select('value').where('key', '=', key).executeTakeFirst()
        return row?.value ?? value
      }),
    findMade: (key) => findMade(reader, 'plan', key),
  }
}
