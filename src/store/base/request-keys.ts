/**
 * What creating calls made, by the Idempotency-Key they came with: asked again, it is there, and is not made twice. The
 * primary key decides who is first. Each scope has its own keys.
 */
import type { Kysely } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { Tables } from './schema.ts'
import type { Tx } from './transaction.ts'

/** `plan`: cycles that were triggered, and follow-ups. */
export type KeyScope = 'run' | 'job' | 'plan'

export interface RequestKey {
  key: string
  /** Of all that was asked for: the same key with another request is a mistake. */
  requestHash: string
}

/** The id of what was made with the key; null: nothing yet, and from now on the key stands for `id`. */
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

/** The id of what was made. */
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
