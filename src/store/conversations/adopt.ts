/**
 * Takes over a session that a person made without Reprise: stores the session, its turns, a conversation of them, and
 * the conversation's pin on the session. Nothing is half-imported (staging.ts), and a session that is known already is not
 * imported again. The turns are read between the transactions; some of them at a time are in memory.
 */
import type { Kysely } from 'kysely'
import type { ContentBlock } from '../../contract/conversation.ts'
import { MessageId, type SessionId } from '../../contract/ids.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx, Write } from '../base/transaction.ts'
import type { NewSession, SessionRecord } from '../runs/session-records.ts'
import { insertSession } from '../runs/sessions.ts'
import { createConversation } from './conversations.ts'
import { redactedTurn } from './outside.ts'
import type { NewConversation } from './records.ts'
import { stage } from './staging.ts'
import { ensurePin, firstWords } from './turns.ts'

export interface Adoption {
  session: NewSession & Pick<SessionRecord, 'stopReason'>
  conversation: NewConversation
  turns: AsyncIterable<OutsideTurn>
  at: Date
}

export type Adopted = { kind: 'adopted'; turns: number } | { kind: 'known'; sessionId: SessionId }

/** Thrown in the last transaction, so that nothing is stored. */
export class NothingToAdopt extends Error {}

class KnownAlready extends Error {
  readonly sessionId: SessionId

  constructor(sessionId: SessionId) {
    super(`the session is known as ${sessionId}`)
    this.sessionId = sessionId
  }
}

export async function adoptSession(write: Write, adoption: Adoption): Promise<Adopted> {
  const { session, conversation, at } = adoption
  const numbering = new Numbering(adoption)
  const refuseKnown = async (tx: Tx) => {
    const known = await findKnown(tx, session.agentSessionId)
    if (known) throw new KnownAlready(known)
  }
  try {
    return await stage(write, {
      ids: { sessionIds: [session.id], conversationId: conversation.id },
      items: numbering.turns(),
      insert: async (tx, turns) => {
        await refuseKnown(tx)
        for (const turn of turns) await insertTurn(tx, adoption, turn)
      },
      finish: async (tx) => {
        await refuseKnown(tx)
        const { turn, messages, firstText } = numbering
        if (turn === 0) throw new NothingToAdopt('it contains no turn')
        await insertSession(tx, session)
        const title = conversation.title || firstWords(tx.redactor.text(firstText ?? ''))
        await createConversation(tx, { ...conversation, title })
        await tx
          .updateTable('conversations')
          .set({ turn_count: turn, revision: 1, updated_at: at.getTime() })
          .where('id', '=', conversation.id)
          .execute()
        await pinSession(tx, adoption, turn)
        await describeSession(tx, adoption, { turn, messages })
        return { kind: 'adopted', turns: turn }
      },
    })
  } catch (error) {
    if (error instanceof KnownAlready) return { kind: 'known', sessionId: error.sessionId }
    throw error
  }
}

/** A turn on another branch was dropped by the person who made the session: it is known, but not part of the chat. */
interface NumberedTurn {
  said: OutsideTurn
  /** null: it is not part of the chat. */
  turn: number | null
}

/** Numbers the turns while they are read. */
class Numbering {
  turn = 0
  messages = 0
  firstText: string | null = null
  readonly #adoption: Adoption

  constructor(adoption: Adoption) {
    this.#adoption = adoption
  }

  async *turns(): AsyncGenerator<NumberedTurn> {
    for await (const said of this.#adoption.turns) {
      if (said.inSession) {
        this.turn++
        this.messages += said.answer.length === 0 ? 1 : 2
        this.firstText ??= said.text
      }
      yield { said, turn: said.inSession ? this.turn : null }
    }
  }
}

async function pinSession(tx: Tx, { session, conversation }: Adoption, turn: number): Promise<void> {
  await ensurePin(tx, conversation.id, session.agent)
  await tx
    .updateTable('pins')
    .set({ session_id: session.id, session_epoch: 0, since_turn: 1, seen_turn: turn })
    .where('conversation_id', '=', conversation.id)
    .where('agent', '=', session.agent)
    .execute()
}

async function describeSession(
  tx: Tx,
  { session, at }: Adoption,
  { turn, messages }: { turn: number; messages: number },
): Promise<void> {
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

async function insertTurn(
  tx: Tx,
  { session, conversation: { id, agent }, at }: Adoption,
  { said: found, turn }: NumberedTurn,
): Promise<void> {
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
  if (turn === null) return
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
}
