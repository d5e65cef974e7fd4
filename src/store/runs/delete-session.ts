/**
 * A person deletes a session, alone or with the conversation that used it: it is marked, and is from then on neither listed
 * nor found. When nothing holds it and its files are gone, its row goes too (keep/sessions.ts). A crash in between leaves
 * the mark, and the rest is done later.
 */
import { sql } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { ConversationId, SessionId } from '../../contract/ids.ts'
import type { Tx } from '../base/transaction.ts'
import type { SessionsTable } from './schema.ts'

/** Refuses with `conflict` if something goes on in the session, or is planned there. */
export async function markSessionDeleted(tx: Tx, id: SessionId, at: Date): Promise<void> {
  const run = await tx
    .selectFrom('runs')
    .select('id')
    .where('session_id', '=', id)
    .where('state', '<>', 'settled')
    .executeTakeFirst()
  const lease = await tx
    .selectFrom('leases')
    .select('run_id')
    .where('session_id', '=', id)
    .where('process_id', 'is not', null)
    .executeTakeFirst()
  const holder = lease?.run_id ?? run?.id ?? null
  if (holder !== null || lease) {
    throw new RepriseError('conflict', `session ${id} is in use by run ${holder}`, {
      hint: `Wait until the run has ended, or cancel it: reprise runs cancel ${holder}`,
      details: { runId: holder },
    })
  }
  const plan = await tx
    .selectFrom('follow_ups')
    .select('id')
    .where('session_id', '=', id)
    .where('state', '=', 'planned')
    .executeTakeFirst()
  if (plan) {
    throw new RepriseError('conflict', `follow-up ${plan.id} is planned in session ${id}`, {
      hint: `Cancel it first: reprise followups cancel ${plan.id}`,
      details: { followUpId: plan.id },
    })
  }
  await mark(tx, [id], 'session', at)
}

/** Marks the sessions that only this conversation used. Called in the transaction that deletes the conversation. */
export async function markSessionsOf(tx: Tx, conversation: ConversationId, at: Date): Promise<void> {
  const { rows } = await sql<{ id: SessionId }>`
    select id from sessions where deleted_at is null and id in (
      select a.session_id from attempts a join runs r on r.id = a.run_id where r.conversation_id = ${conversation}
      union select session_id from pins where conversation_id = ${conversation} and session_id is not null)
    and not exists (
      select 1 from attempts a join runs r on r.id = a.run_id
      where a.session_id = sessions.id and (r.conversation_id is null or r.conversation_id <> ${conversation}))
    and not exists (select 1 from pins p where p.session_id = sessions.id and p.conversation_id <> ${conversation})
    and not exists (select 1 from watches w where w.session_id = sessions.id and w.removed_at is null)
  `.execute(tx)
  await mark(
    tx,
    rows.map(({ id }) => id),
    'conversation',
    at,
  )
}

/** A conversation or watch that used the session starts a new one, with the history. */
async function mark(
  tx: Tx,
  ids: readonly SessionId[],
  how: NonNullable<SessionsTable['deleted_with']>,
  at: Date,
): Promise<void> {
  for (const id of ids) {
    await tx
      .updateTable('pins')
      .set({ session_id: null, session_epoch: null, since_turn: null, seen_turn: null })
      .where('session_id', '=', id)
      .execute()
    await tx
      .updateTable('watches')
      .set({ session_id: null, session_since: null, session_cycles: 0 })
      .where('session_id', '=', id)
      .execute()
    await tx
      .updateTable('sessions')
      .set({ deleted_at: at.getTime(), deleted_with: how })
      .where('id', '=', id)
      .execute()
  }
}
