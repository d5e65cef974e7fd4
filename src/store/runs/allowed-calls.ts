/** Tool calls that a person has allowed for the rest of a session. Only hashes are stored: commands may contain secrets. */
import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { AttemptId, SessionId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'

const hashOf = (call: string) => createHash('sha256').update(call).digest('hex')

/** The call is allowed in the session of the attempt that asked. */
export async function allowCall(tx: Tx, attemptId: AttemptId, call: string, at: Date): Promise<void> {
  await tx
    .insertInto('allowed_calls')
    .columns(['session_id', 'call_hash', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('attempts')
        .select(['session_id', eb.val(hashOf(call)).as('call_hash'), eb.val(at.getTime()).as('created_at')])
        .where('id', '=', attemptId),
    )
    .onConflict((oc) => oc.doNothing())
    .execute()
}

export async function isCallAllowed(db: Kysely<Tables>, id: SessionId, call: string): Promise<boolean> {
  const row = await db
    .selectFrom('allowed_calls')
    .select('created_at')
    .where('session_id', '=', id)
    .where('call_hash', '=', hashOf(call))
    .executeTakeFirst()
  return row !== undefined
}
