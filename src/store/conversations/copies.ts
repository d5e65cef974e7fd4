/**
 * Sessions that begin as copies of others: forks, imports, rewinds. The copy and its past are stored together. The turns
 * in it are recorded as known, so that they are not taken for turns that somebody made outside Reprise, and they are its
 * history if it can no longer be resumed. A copy costs nothing itself: what its past had cost stays with the original.
 */
import type { Kysely } from 'kysely'
import { MessageId, type SessionId } from '../../contract/ids.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx, Write } from '../base/transaction.ts'
import type { NewSession } from '../runs/session-records.ts'
import { insertSession } from '../runs/sessions.ts'
import { createConversation } from './conversations.ts'
import type { MessageRecord, NewConversation } from './records.ts'
import { stage } from './staging.ts'

export interface SessionOrigin {
  kind: 'fork' | 'import' | 'rewind'
  /** null: it came from another home. */
  sessionId: SessionId | null
  agentSessionId: string
  /** The message after which it was cut; null: it was copied whole. */
  messageId: string | null
  /** The cost of the copied part by the agent's own count, with which the agent's total of the copy begins. */
  costUsd: number | null
  createdAt: Date
}

export interface CopiedSession {
  session: NewSession
  origin: SessionOrigin
  /** The ids of all questions in it. */
  questions: readonly string[]
  /** Its turns, as far as they are needed as history. */
  turns: readonly OutsideTurn[]
}

export type CopiedMessage = Pick<
  MessageRecord,
  'turn' | 'role' | 'agent' | 'blocks' | 'state' | 'origin' | 'createdAt'
>

export interface CopiedPin {
  agent: string
  sessionId: SessionId
  sinceTurn: number
  seenTurn: number
}

export interface CopiedConversation {
  conversation: NewConversation
  /** In order. Read while they are stored, perhaps from a file. */
  messages: AsyncIterable<CopiedMessage> | Iterable<CopiedMessage>
  pins: readonly CopiedPin[]
}

/** Stores sessions and perhaps the conversation that uses them, all or nothing (staging.ts). */
export async function addCopies(
  write: Write,
  sessions: readonly CopiedSession[],
  conversation: CopiedConversation | null,
): Promise<void> {
  const messages = conversation?.messages ?? []
  let turnCount = 0
  await stage<CopiedMessage, void>(write, {
    ids: { sessionIds: [], conversationId: conversation?.conversation.id ?? null },
    items: messages,
    insert: async (tx, some) => {
      for (const message of some) {
        turnCount = Math.max(turnCount, message.turn)
        if (conversation) await addMessage(tx, conversation.conversation, message)
      }
    },
    finish: async (tx) => {
      for (const copied of sessions) await addSession(tx, copied)
      if (conversation) await addConversation(tx, conversation, turnCount)
    },
  })
}

async function addSession(tx: Tx, { session, origin, questions, turns }: CopiedSession): Promise<void> {
  await insertSession(tx, session)
  const unanswered = turns.filter(({ answer }) => answer.length === 0).length
  await tx
    .updateTable('sessions')
    .set({
      state: 'paused',
      state_at: origin.createdAt.getTime(),
      told: session.told,
      compacted: session.compacted ? 1 : 0,
      turns: session.turns,
      messages: questions.length * 2 - unanswered,
      context_tokens: session.contextTokens,
      context_window: session.contextWindow,
    })
    .where('id', '=', session.id)
    .execute()
  await tx
    .insertInto('session_origins')
    .values({
      session_id: session.id,
      kind: origin.kind,
      from_session_id: origin.sessionId,
      from_agent_session_id: origin.agentSessionId,
      message_id: origin.messageId,
      cost_usd: origin.costUsd,
      created_at: origin.createdAt.getTime(),
    })
    .execute()
  for (const message_id of questions) {
    await tx
      .insertInto('given_prompts')
      .values({ session_id: session.id, message_id })
      .onConflict((oc) => oc.doNothing())
      .execute()
  }
  for (const turn of turns) {
    const answer = tx.redactor.json(JSON.stringify(turn.answer), BLOCK_IDS)
    await tx
      .insertInto('outside_turns')
      .values({
        session_id: session.id,
        native_id: turn.id,
        prompt: tx.redactor.text(turn.text),
        answer,
        in_session: turn.inSession ? 1 : 0,
        said_at: (turn.saidAt ?? origin.createdAt).getTime(),
        copied: 1,
      })
      .onConflict((oc) => oc.doNothing())
      .execute()
  }
}

const BLOCK_IDS: ReadonlySet<string> = new Set(['type', 'toolUseId'])

async function addMessage(
  tx: Tx,
  { id, createdAt }: Pick<NewConversation, 'id' | 'createdAt'>,
  message: CopiedMessage,
): Promise<void> {
  await tx
    .insertInto('messages')
    .values({
      id: MessageId.create(createdAt),
      conversation_id: id,
      turn: message.turn,
      role: message.role,
      agent: message.agent,
      blocks: tx.redactor.json(JSON.stringify(message.blocks), BLOCK_IDS),
      state: message.state,
      revision: 1,
      run_id: null,
      origin: message.origin === 'reprise' ? null : message.origin,
      created_at: message.createdAt.getTime(),
      edited_at: null,
    })
    .execute()
}

async function addConversation(
  tx: Tx,
  { conversation, pins }: CopiedConversation,
  turnCount: number,
): Promise<void> {
  await createConversation(tx, conversation)
  await tx
    .updateTable('conversations')
    .set({ turn_count: turnCount })
    .where('id', '=', conversation.id)
    .execute()
  for (const { agent, sessionId, sinceTurn, seenTurn } of pins) {
    await tx
      .insertInto('pins')
      .values({
        conversation_id: conversation.id,
        agent,
        epoch: 0,
        session_id: sessionId,
        session_epoch: 0,
        since_turn: Math.min(sinceTurn, Math.max(turnCount, 1)),
        seen_turn: Math.min(seenTurn, turnCount),
      })
      .execute()
  }
}

export async function getOrigin(db: Kysely<Tables>, id: SessionId): Promise<SessionOrigin | null> {
  const row = await db
    .selectFrom('session_origins')
    .selectAll()
    .where('session_id', '=', id)
    .executeTakeFirst()
  if (!row) return null
  return {
    kind: row.kind,
    sessionId: row.from_session_id,
    agentSessionId: row.from_agent_session_id,
    messageId: row.message_id,
    costUsd: row.cost_usd,
    createdAt: new Date(Number(row.created_at)),
  }
}
