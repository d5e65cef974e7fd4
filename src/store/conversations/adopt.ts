/**
 * Takes over a session that a person made without Reprise: stores the session, its turns, a conversation of them, and
 * the conversation's pin on the session. All of it is one transaction, so nothing is half-imported, and a session that
 * is known already is not imported again. The turns are read while they are stored: one at a time is in memory.
 */
import type { Kysely } from 'kysely'
import type { ContentBlock } from '../../contract/conversation.ts'
import { MessageId, type SessionId } from '../../contract/ids.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { NewSession, SessionRecord } from '../runs/session-records.ts'
import { insertSession } from '../runs/sessions.ts'
import { createConversation } from './conversations.ts'
import { redactedTurn } from './outside.ts'
import type { NewConversation } from './records.ts'
import { ensurePin, firstWords } from './turns.ts'

export interface Adoption {
  session: NewSession & Pick<SessionRecord, 'stopReason'>
  conversation: NewConversation
  turns: AsyncIterable<OutsideTurn>
  at: Date
}

export type Adopted = { kind: 'adopted'; turns: number } | { kind: 'known'; sessionId: SessionId }

/** Thrown inside the transaction, so that nothing is stored. */
export class NothingToAdopt extends Error {}

export async function adoptSession(tx: Tx, { session, conversation, turns, at }: Adoption): Promise<Adopted> {
  const known = await findKnown(tx, session.agentSessionId)
  if (known) return { kind: 'known', sessionId: known }
  await insertSession(tx, session)
  await createConversation(tx, conversation)
  let [turn, messages] = [0, 0]
  let title = conversation.title
  for await (const found of turns) {
    const said = { ...redactedTurn(tx, found), saidAt: found.saidAt ?? at }
    await tx
      .insertInto('outside_turns')
      .values({
        session_id: session.id,
        native_id: said.id,
        prompt: said.text,
        answer: JSON.stringify(said.answer),
        in_session: said.inSession ? 1 : 0,
        said_at: said.saidAt.getTime(),
        copied: 0,
      })
      .onConflict((oc) => oc.doNothing())
      .execute()
    // A turn on another branch was dropped by the person who made the session: it is known, but not part of the chat.
    if (!said.inSession) continue
    turn++
    messages += await insertTurn(tx, conversation, turn, said, at)
    title ||= firstWords(said.text)
  }
  if (turn === 0) throw new NothingToAdopt('it contains no turn')
  await tx
    .updateTable('conversations')
    .set({ turn_count: turn, title, revision: 1, updated_at: at.getTime() })
    .where('id', '=', conversation.id)
    .execute()
  await ensurePin(tx, conversation.id, session.agent)
  await tx
    .updateTable('pins')
    .set({ session_id: session.id, session_epoch: 0, since_turn: 1, seen_turn: turn })
    .where('conversation_id', '=', conversation.id)
    .where('agent', '=', session.agent)
    .execute()
  await tx
    .updateTable('sessions')
    .set({
      state: 'paused',
      state_at: at.getTime(),
      origin: 'adopted',
      turns: turn,
      messages,
      stop_reason: session.stopReason,
      context_tokens: session.contextTokens,
    })
    .where('id', '=', session.id)
    .execute()
  return { kind: 'adopted', turns: turn }
}

/** The session that has, or had, this id of the agent. An agent changes its id when its memory is cleared. */
export async function findKnown(db: Kysely<Tables>, agentSessionId: string): Promise<SessionId | null> {
  const session = await db
    .selectFrom('sessions')
    .select('id')
    .where('agent_session_id', '=', agentSessionId)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  if (session) return session.id
  const attempt = await db
    .selectFrom('attempts')
    .select('session_id')
    .where('agent_session_id', '=', agentSessionId)
    .executeTakeFirst()
  return attempt?.session_id ?? null
}

/** Returns the number of messages: the question, and the answer if there is one. */
async function insertTurn(
  tx: Tx,
  { id, agent }: NewConversation,
  turn: number,
  said: OutsideTurn & { saidAt: Date },
  at: Date,
): Promise<number> {
  const row = (role: 'user' | 'assistant', blocks: readonly ContentBlock[]) => ({
    id: MessageId.create(at),
    conversation_id: id,
    turn,
    role,
    agent,
    blocks: JSON.stringify(blocks),
    state: 'complete' as const,
    revision: 1,
    run_id: null,
    origin: 'outside' as const,
    created_at: said.saidAt.getTime(),
    edited_at: null,
  })
  const question = row('user', [{ type: 'text', text: said.text }])
  const rows = said.answer.length === 0 ? [question] : [question, row('assistant', said.answer)]
  await tx.insertInto('messages').values(rows).execute()
  return rows.length
}
