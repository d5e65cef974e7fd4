/**
 * What creating calls made, by their Idempotency-Key: a repeated call returns the existing object. The primary key of
 * the table decides which call is first. Each scope has its own keys.
 */
import type { Kysely } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { Tables } from './schema.ts'
import type { Tx } from './transaction.ts'

/** `plan`: triggered cycles, and follow-ups. */
export type KeyScope = 'run' | 'job' | 'plan'

export interface RequestKey {
  key: string
  /** The hash of the whole request: the same key with another request is an error. */
  requestHash: string
}

/** Returns the id of what was made with the key before. Returns null if the key is new, and stores `id` for it. */
export async function claimKey(
  tx: Tx,
  scope: KeyScope,
  { key, requestHash }: RequestKey,
  id: string,
): Promise<string | null> {
  const claimed = await tx
    .insertInto('request_keys')
    .values({ key: `${scope}:${key}`, request_hash: requestHash, made: id })
    .onConflict((oc) => oc.doNothing())
    .returning('made')
    .executeTakeFirst()
  return claimed ? null : findMade(tx, scope, { key, requestHash })
}

/** Returns the id of what was made. */
export async function findMade(
  db: Kysely<Tables>,
  scope: KeyScope,
  { key, requestHash }: RequestKey,
): Promise<string | null> {
  const known = await db
    .selectFrom('request_keys')
    .selectAll()
    .where('key', '=', `${scope}:${key}`)
    .executeTakeFirst()
  if (!known || known.request_hash === requestHash) return known?.made ?? null
  throw new RepriseError('conflict', `Idempotency-Key ${key} was used for another request`, {
    hint: 'Use a new key for a new request.',
    details: { [NAMES[scope]]: known.made },
  })
}

const NAMES: Record<KeyScope, string> = { run: 'runId', job: 'jobId', plan: 'id' }
