/**
 * Makes transactions that decide about the same thing take turns. Some decisions rest on many rows, and no condition of one
 * statement can hold them: whether there is room for one more, or what is in the way. Such a transaction first changes
 * the row of what it decides about. On SQLite writers take turns anyway; on a database with concurrent writers the second
 * one waits at that row until the first has committed, and then sees what it did.
 */
import type { Tx } from './transaction.ts'

export async function lockKey(tx: Tx, key: string): Promise<void> {
  await tx
    .insertInto('key_locks')
    .values({ key, taken: 1 })
    .onConflict((oc) => oc.column('key').doUpdateSet((eb) => ({ taken: eb('key_locks.taken', '+', 1) })))
    .execute()
}
