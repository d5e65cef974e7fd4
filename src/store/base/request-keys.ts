/** What creating calls made, by the key they came with: asked again, it is there, and is not made twice. */
import type { Kysely } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { Tables } from './schema.ts'
import type { Tx } from './transaction.ts'

export interface RequestKey {
  key: string
  /** Of all that was asked for: the same key with another request is a mistake. */
  requestHash: string
}

/** The id of what was made. */
export async function findMade(db: Kysely<Tables>, { key, requestHash }: RequestKey): Promise<string | null> {
  const known = await db.selectFrom('request_keys').selectAll().where('key', '=', key).executeTakeFirst()
  if (!known || known.request_hash === requestHash) return known?.made ?? null
  throw new RepriseError('conflict', `Idempotency-Key ${key} was used for another request`, {
    hint: 'Use a new key for a new request.',
    details: { id: known.made },
  })
}

export async function noteMade(tx: Tx, { key, requestHash }: RequestKey, id: string): Promise<void> {
  await tx.insertInto('request_keys').values({ key, request_hash: requestHash, made: id }).execute()
}
