/**
 * Serialises transactions that decide about the same thing. Some decisions depend on many rows, so that the condition
 * of one statement cannot guard them: whether there is room for one more, or what is in the way. Such a transaction
 * first updates the row of its key. On SQLite writers are serialised anyway; on a database with concurrent writers the
 * second one waits for that row until the first has committed, and then sees its changes.
 */
import type { Tx } from './transaction.ts'

export async function lockKey(tx: Tx, key: string): Promise<void> {
  await tx
    .insertInto('key_locks')
    .values({ key, taken: 1 })
    .onConflict((oc) => oc.column('key').doUpdateSet((eb) => ({ taken: eb('key_locks.taken', '+', 1) })))
    .execute()
}
