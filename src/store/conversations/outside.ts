/**
 * Messages that were exchanged in sessions outside Reprise. They are stored by session, for any run that continues in
 * it. If the session belongs to a conversation, they also become messages there, before the turn that found them.
 */
import type { Kysely } from 'kysely'
import { type ConversationId, MessageId, type SessionId } from '../../contract/ids.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { SessionRecord } from '../runs/session-records.ts'

export interface OutsideFindings {
  session: Pick<SessionRecord, 'id' | 'agent'>
  /** The conversation, and the turn that is about to be asked. */
  conversation: { id: ConversationId; turn: number } | null
  turns: readonly OutsideTurn[]
  at: Date
}

/**
 * The ids of the prompts that Reprise sent in a session: those of its attempts, and those given to its kept processes.
 */
export async function listOwnPrompts(db: Kysely<Tables>, id: SessionId): Promise<string[]> {
  const attempts = await db.selectFrom('attempts').select('prompt_id').where('session_id', '=', id).execute()
  const given = await db
    .selectFrom('given_prompts')
    .select('message_id')
    .where('session_id', '=', id)
    .execute()
  return [...attempts.map((row) => row.prompt_id), ...given.map((row) => row.message_id)]
}

/**
 * Records that a kept process is about to be given a message. This happens before the delivery, because the agent may
 * write the message into its transcript and be killed before it confirms it.
 */
export async function noteGiven(tx: Tx, sessionId: SessionId, messageId: string): Promise<void> {
  await tx
    .insertInto('given_prompts')
    .values({ session_id: sessionId, message_id: messageId })
    .onConflict((oc) => oc.doNothing())
    .execute()
}

export interface KnownOutsideTurn extends OutsideTurn {
  saidAt: Date
  /** It was copied from the session's origin, and not said outside Reprise. */
  copied?: boolean
}

/** Oldest first. */
export async function listOutsideTurns(db: Kysely<Tables>, id: SessionId): Promise<KnownOutsideTurn[]> {
  const rows = await db
    .selectFrom('outside_turns')
    .selectAll()
    .where('session_id', '=', id)
    .orderBy('said_at')
    .execute()
  return rows.map((row) => ({
    id: row.native_id,
    text: row.prompt,
    answer: JSON.parse(row.answer),
    saidAt: new Date(Number(row.said_at)),
    inSession: row.in_session === 1,
    ...(row.copied === 1 ? { copied: true } : {}),
  }))
}

/** The agent's ids of the questions that were imported. */
export async function listOutsideIds(db: Kysely<Tables>, id: SessionId): Promise<string[]> {
  const rows = await db.selectFrom('outside_turns').select('native_id').where('session_id', '=', id).execute()
  return rows.map((row) => row.native_id)
}

/** Messages that are stored already stay as they are. */
export async function takeInOutside(tx: Tx, findings: OutsideFindings): Promise<void> {
  const turns: KnownOutsideTurn[] = []
  for (const found of findings.turns) {
    const turn = { ...redactedTurn(tx, found), saidAt: found.saidAt ?? findings.at }
    const added = await tx
      .insertInto('outside_turns')
      .values({
        session_id: findings.session.id,
        native_id: turn.id,
        prompt: turn.text,
        answer: JSON.stringify(turn.answer),
        in_session: turn.inSession ? 1 : 0,
        said_at: turn.saidAt.getTime(),
        copied: 0,
      })
      .onConflict((oc) => oc.doNothing())
      .returning('native_id')
      .executeTakeFirst()
    if (added) turns.push(turn)
  }
  if (findings.conversation && turns.length > 0) {
    await insertBefore(tx, findings.conversation, findings.session.agent, turns, findings.at)
  }
}

export function redactedTurn(tx: Tx, turn: OutsideTurn): OutsideTurn {
  const ids = new Set(['type', 'toolUseId'])
  const answer = JSON.parse(tx.redactor.json(JSON.stringify(turn.answer), ids))
  return { ...turn, text: tx.redactor.text(turn.text), answer }
}

/**
 * Makes room before the turn and inserts the messages there. No epoch changes, because no agent was given a different
 * history before. The revision changes, because an attempt that was prepared without the messages must not start.
 */
async function insertBefore(
  tx: Tx,
  { id, turn }: { id: ConversationId; turn: number },
  agent: string,
  turns: readonly KnownOutsideTurn[],
  at: Date,
): Promise<void> {
  const by = turns.length
  const later = {
    messages: tx.updateTable('messages'),
    runs: tx.updateTable('runs'),
    pins: tx.updateTable('pins'),
  }
  // In two steps, because no two messages may have the same turn in between.
  const far = 1_000_000_000
  await later.messages
    .set((eb) => ({ turn: eb('turn', '+', far) }))
    .where('conversation_id', '=', id)
    .where('turn', '>=', turn)
    .execute()
  await later.messages
    .set((eb) => ({ turn: eb('turn', '-', far - by) }))
    .where('conversation_id', '=', id)
    .where('turn', '>=', far)
    .execute()
  await later.runs
    .set((eb) => ({ turn: eb('turn', '+', by) }))
    .where('conversation_id', '=', id)
    .where('turn', '>=', turn)
    .execute()
  for (const column of ['since_turn', 'seen_turn'] as const) {
    await later.pins
      .set((eb) => ({ [column]: eb(column, '+', by) }))
      .where('conversation_id', '=', id)
      .where(column, '>=', turn)
      .execute()
  }
  for (const [index, { text, answer, saidAt, inSession }] of turns.entries()) {
    const message = {
      conversation_id: id,
      turn: turn + index,
      agent,
      state: 'complete' as const,
      revision: 1,
      run_id: null,
      created_at: saidAt.getTime(),
      edited_at: null,
      origin: inSession ? ('outside' as const) : ('outside-branch' as const),
    }
    const question = [{ type: 'text', text }]
    await tx
      .insertInto('messages')
      .values({ ...message, id: MessageId.create(at), role: 'user', blocks: JSON.stringify(question) })
      .execute()
    if (answer.length === 0) continue
    await tx
      .insertInto('messages')
      .values({ ...message, id: MessageId.create(at), role: 'assistant', blocks: JSON.stringify(answer) })
      .execute()
  }
  await tx
    .updateTable('conversations')
    .set((eb) => ({
      updated_at: at.getTime(),
      turn_count: eb('turn_count', '+', by),
      revision: eb('revision', '+', 1),
    }))
    .where('id', '=', id)
    .execute()
}
