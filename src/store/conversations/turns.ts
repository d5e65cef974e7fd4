/**
 * The messages of a conversation, and each agent's position in it. A message belongs to a turn; a turn has one question
 * and at most one answer.
 */
import type { Kysely } from 'kysely'
import type { ConversationId, MessageId, SessionId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import { claimRun, insertRun } from '../runs/admit-run.ts'
import type { NewRun, RunRecord } from '../runs/records.ts'
import { noConversation } from './conversations.ts'
import type { MessageRecord, PinRecord } from './records.ts'
import { toMessage, toPin } from './rows.ts'

type Db = Kysely<Tables>

/** Ordered by turn, the question before the answer. */
export async function listMessages(
  db: Db,
  id: ConversationId,
  beforeTurn?: number,
): Promise<MessageRecord[]> {
  let select = db
    .selectFrom('messages')
    .selectAll()
    .where('conversation_id', '=', id)
    .orderBy('turn')
    .orderBy('role', 'desc')
  if (beforeTurn !== undefined) select = select.where('turn', '<', beforeTurn)
  return (await select.execute()).map(toMessage)
}

export async function getPin(db: Db, id: ConversationId, agent: string): Promise<PinRecord | null> {
  const row = await db
    .selectFrom('pins')
    .selectAll()
    .where('conversation_id', '=', id)
    .where('agent', '=', agent)
    .executeTakeFirst()
  return row ? toPin(row) : null
}

export async function listPins(db: Db, id: ConversationId): Promise<PinRecord[]> {
  const rows = await db
    .selectFrom('pins')
    .selectAll()
    .where('conversation_id', '=', id)
    .orderBy('agent')
    .execute()
  return rows.map(toPin)
}

export interface NewTurn {
  messageId: MessageId
  conversationId: ConversationId
  run: NewRun
}

/** Stores the question and the run that is to answer it, both or neither. */
export async function admitTurn(tx: Tx, turn: NewTurn): Promise<{ run: RunRecord; created: boolean }> {
  const { conversationId, run } = turn
  const known = await claimRun(tx, { ...run, conversation: { id: conversationId, turn: 0 } })
  if (known) return { run: known, created: false }
  const at = run.createdAt.getTime()
  const row = await tx
    .updateTable('conversations')
    .set((eb) => ({
      turn_count: eb('turn_count', '+', 1),
      // A conversation without a title gets the first words of its first question.
      title: eb.case().when('title', '=', '').then(firstWords(run.prompt)).else(eb.ref('title')).end(),
      updated_at: at,
    }))
    .where('id', '=', conversationId)
    .returning(['turn_count', 'work_dir'])
    .executeTakeFirst()
  if (!row) throw noConversation(conversationId)
  const { turn_count, work_dir: workDir } = row
  await tx
    .insertInto('messages')
    .values({
      id: turn.messageId,
      conversation_id: conversationId,
      turn: turn_count,
      role: 'user',
      agent: run.agent,
      blocks: JSON.stringify([{ type: 'text', text: run.prompt }]),
      state: 'complete',
      revision: 1,
      run_id: run.id,
      origin: null,
      created_at: at,
      edited_at: null,
    })
    .execute()
  await ensurePin(tx, conversationId, run.agent)
  const conversation = { id: conversationId, turn: turn_count }
  return { run: await insertRun(tx, { ...run, workDir, conversation }), created: true }
}

const TITLE_CHARS = 80
export const firstWords = (prompt: string) => prompt.trim().split('\n')[0]?.slice(0, TITLE_CHARS) ?? ''

export async function ensurePin(tx: Tx, conversationId: ConversationId, agent: string): Promise<void> {
  await tx
    .insertInto('pins')
    .values({
      conversation_id: conversationId,
      agent,
      epoch: 0,
      session_id: null,
      session_epoch: null,
      since_turn: null,
      seen_turn: null,
    })
    .onConflict((oc) => oc.doNothing())
    .execute()
}

/** The conversation that uses the session. */
export async function findConversationOf(db: Db, id: SessionId): Promise<ConversationId | null> {
  const row = await db
    .selectFrom('pins')
    .select('conversation_id')
    .where('session_id', '=', id)
    .executeTakeFirst()
  return row?.conversation_id ?? null
}
