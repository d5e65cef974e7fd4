/**
 * Conversations, their messages, and each agent's place in them.
 *
 * A message belongs to a turn; a turn has one question and at most one answer. Changing what has been said (edit,
 * truncate, retry) bumps, in the same transaction, the epoch of exactly those agents that were given something else
 * before. Whether they were is decided by `isHistoryChanged`, on what each one's session has seen, or is seeing now.
 */
import type { Kysely } from 'kysely'
import type { ContentBlock } from '../contract/conversation.ts'
import { RepriseError } from '../contract/errors.ts'
import type { Page } from '../contract/http.ts'
import { ConversationId, type MessageId, type RunId } from '../contract/ids.ts'
import { isHistoryChanged } from '../core/history/view.ts'
import type {
  ConversationRecord,
  MessageRecord,
  NewConversation,
  NewRun,
  PinRecord,
  RunRecord,
  TurnEnding,
} from './records.ts'
import { toConversation, toMessage, toPin } from './rows.ts'
import { admitRun, findByKey } from './runs.ts'
import type { Tables } from './schema.ts'
import type { Tx } from './writer.ts'

type Db = Kysely<Tables>

export async function createConversation(tx: Tx, conversation: NewConversation): Promise<ConversationRecord> {
  const at = conversation.createdAt.getTime()
  const row = await tx
    .insertInto('conversations')
    .values({
      id: conversation.id,
      title: conversation.title,
      agent: conversation.agent,
      work_dir: conversation.workDir,
      instructions: conversation.instructions,
      history_scope: conversation.historyScope,
      turn_count: 0,
      created_at: at,
      updated_at: at,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return toConversation(row)
}

export async function getConversation(db: Db, id: ConversationId): Promise<ConversationRecord | null> {
  const row = await db.selectFrom('conversations').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? toConversation(row) : null
}

async function requireConversation(db: Db, id: ConversationId): Promise<ConversationRecord> {
  const conversation = await getConversation(db, id)
  if (conversation) return conversation
  throw new RepriseError('not-found', `there is no conversation ${id}`, {
    hint: '`reprise conversations` lists them.',
  })
}

export async function listConversations(
  db: Db,
  query: { limit: number; cursor?: string | undefined },
): Promise<Page<ConversationRecord>> {
  let select = db
    .selectFrom('conversations')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
  if (query.cursor !== undefined) {
    if (!ConversationId.is(query.cursor)) {
      throw new RepriseError('bad-request', 'cursor: expected one that a list returned')
    }
    select = select.where('id', '<', query.cursor)
  }
  const rows = await select.execute()
  const items = rows.slice(0, query.limit).map(toConversation)
  return { items, nextCursor: rows.length > query.limit ? (items.at(-1)?.id ?? null) : null }
}

export async function updateConversation(
  tx: Tx,
  id: ConversationId,
  change: { title?: string | undefined; instructions?: string | null | undefined },
  at: Date,
): Promise<void> {
  await requireConversation(tx, id)
  await tx
    .updateTable('conversations')
    .set({
      updated_at: at.getTime(),
      ...(change.title === undefined ? {} : { title: change.title }),
      ...(change.instructions === undefined ? {} : { instructions: change.instructions }),
    })
    .where('id', '=', id)
    .execute()
}

/** Its runs stay as records of what was done. Returns those that are not settled, for the caller to end. */
export async function deleteConversation(tx: Tx, id: ConversationId): Promise<RunId[]> {
  await requireConversation(tx, id)
  const open = await listOpenRuns(tx, id)
  await tx.deleteFrom('messages').where('conversation_id', '=', id).execute()
  await tx.deleteFrom('pins').where('conversation_id', '=', id).execute()
  await tx.deleteFrom('conversations').where('id', '=', id).execute()
  return open.map((run) => run.id)
}

async function listOpenRuns(db: Db, id: ConversationId) {
  return db
    .selectFrom('runs')
    .select(['id', 'turn', 'agent', 'state'])
    .where('conversation_id', '=', id)
    .where('state', '<>', 'settled')
    .execute()
}

/** In order: by turn, the question before the answer. */
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

/** The question and the run that is to answer it, or neither. */
export async function admitTurn(tx: Tx, turn: NewTurn): Promise<{ run: RunRecord; created: boolean }> {
  const { conversationId, run } = turn
  if (await findByKey(tx, run.idempotencyKey)) {
    return admitRun(tx, { ...run, conversation: { id: conversationId, turn: 0 } })
  }
  await requireConversation(tx, conversationId)
  const at = run.createdAt.getTime()
  const { turn_count, title } = await tx
    .updateTable('conversations')
    .set((eb) => ({ turn_count: eb('turn_count', '+', 1), updated_at: at }))
    .where('id', '=', conversationId)
    .returning(['turn_count', 'title'])
    .executeTakeFirstOrThrow()
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
      created_at: at,
      edited_at: null,
    })
    .execute()
  if (title === '') {
    const words = run.prompt.trim().split('\n')[0]?.slice(0, TITLE_CHARS) ?? ''
    await tx.updateTable('conversations').set({ title: words }).where('id', '=', conversationId).execute()
  }
  await ensurePin(tx, conversationId, run.agent)
  return admitRun(tx, { ...run, conversation: { id: conversationId, turn: turn_count } })
}

/** An untitled conversation is called by its first words. */
const TITLE_CHARS = 80

async function ensurePin(tx: Tx, conversationId: ConversationId, agent: string): Promise<void> {
  await tx
    .insertInto('pins')
    .values({
      conversation_id: conversationId,
      agent,
      epoch: 0,
      session_id: null,
      session_epoch: null,
      seen_turn: null,
      instructions_hash: null,
    })
    .onConflict((oc) => oc.doNothing())
    .execute()
}

async function requireMessage(tx: Tx, conversationId: ConversationId, id: MessageId): Promise<MessageRecord> {
  const row = await tx
    .selectFrom('messages')
    .selectAll()
    .where('id', '=', id)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst()
  if (row) return toMessage(row)
  throw new RepriseError('not-found', `conversation ${conversationId} has no message ${id}`)
}

/** Applies the change and bumps the epochs of those whose given history it changes. */
async function changeHistory<T>(tx: Tx, id: ConversationId, at: Date, change: () => Promise<T>): Promise<T> {
  const { historyScope } = await requireConversation(tx, id)
  const before = await listMessages(tx, id)
  const result = await change()
  const after = await listMessages(tx, id)
  const running = (await listOpenRuns(tx, id)).filter((run) => run.state === 'running')
  const lastTurn = after.at(-1)?.turn ?? 0
  for (const pin of await listPins(tx, id)) {
    const seeing = running.filter((run) => run.agent === pin.agent).map((run) => run.turn ?? 0)
    const seenTurn = Math.max(pin.seenTurn ?? 0, ...seeing)
    const changed = isHistoryChanged(pin.agent, historyScope, seenTurn, before, after)
    await tx
      .updateTable('pins')
      .set({
        epoch: pin.epoch + (changed ? 1 : 0),
        seen_turn: pin.seenTurn === null ? null : Math.min(pin.seenTurn, lastTurn),
      })
      .where('conversation_id', '=', id)
      .where('agent', '=', pin.agent)
      .execute()
  }
  await tx
    .updateTable('conversations')
    .set({ updated_at: at.getTime(), turn_count: lastTurn })
    .where('id', '=', id)
    .execute()
  return result
}

/** A turn that is still waiting is asked with the new text. */
export async function editMessage(
  tx: Tx,
  conversationId: ConversationId,
  id: MessageId,
  text: string,
  at: Date,
): Promise<MessageRecord> {
  const message = await requireMessage(tx, conversationId, id)
  const blocks: ContentBlock[] = [{ type: 'text', text }]
  await changeHistory(tx, conversationId, at, async () => {
    await tx
      .updateTable('messages')
      .set((eb) => ({
        blocks: JSON.stringify(blocks),
        revision: eb('revision', '+', 1),
        edited_at: at.getTime(),
      }))
      .where('id', '=', id)
      .execute()
  })
  if (message.role === 'user' && message.runId) {
    await tx
      .updateTable('runs')
      .set({ prompt: text })
      .where('id', '=', message.runId)
      .where('state', '=', 'queued')
      .where('attempt_count', '=', 0)
      .execute()
  }
  return requireMessage(tx, conversationId, id)
}

/** Takes away the message and all after it. Returns the runs that were to answer what is gone. */
export async function truncate(
  tx: Tx,
  conversationId: ConversationId,
  id: MessageId,
  at: Date,
): Promise<{ removed: number; orphaned: RunId[] }> {
  const message = await requireMessage(tx, conversationId, id)
  const removed = await changeHistory(tx, conversationId, at, () => removeFrom(tx, message))
  return { removed, orphaned: await listOrphaned(tx, conversationId) }
}

async function removeFrom(tx: Tx, { conversationId, turn, role }: MessageRecord): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('messages')
    .where('conversation_id', '=', conversationId)
    .where((eb) =>
      role === 'user'
        ? eb('turn', '>=', turn)
        : eb.or([eb('turn', '>', turn), eb.and([eb('turn', '=', turn), eb('role', '=', 'assistant')])]),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Open runs that no question waits for any more. */
async function listOrphaned(tx: Tx, conversationId: ConversationId): Promise<RunId[]> {
  const open = await listOpenRuns(tx, conversationId)
  const awaited = new Set(
    (await listMessages(tx, conversationId)).flatMap((m) => (m.role === 'user' ? [m.runId] : [])),
  )
  return open.map((run) => run.id).filter((id) => !awaited.has(id))
}

/** Asks the question of that turn again, as if nothing had come after it. */
export async function retryFrom(
  tx: Tx,
  conversationId: ConversationId,
  id: MessageId,
  createRun: (question: MessageRecord) => NewRun,
): Promise<{ run: RunRecord; created: boolean; orphaned: RunId[] }> {
  const { turn } = await requireMessage(tx, conversationId, id)
  const question = (await listMessages(tx, conversationId)).find((m) => m.turn === turn && m.role === 'user')
  if (!question) throw new RepriseError('conflict', `there is no question before message ${id} to ask again`)
  const run = createRun(question)
  const known = await findByKey(tx, run.idempotencyKey)
  if (known) return { run: known, created: false, orphaned: [] }
  await changeHistory(tx, conversationId, run.createdAt, async () => {
    await removeFrom(tx, { ...question, role: 'assistant' })
    // Asking again is a change for a session that has heard the question, even if it never answered.
    await tx
      .updateTable('messages')
      .set((eb) => ({ run_id: run.id, agent: run.agent, revision: eb('revision', '+', 1) }))
      .where('id', '=', question.id)
      .execute()
  })
  await ensurePin(tx, conversationId, run.agent)
  const admitted = await admitRun(tx, { ...run, conversation: { id: conversationId, turn } })
  return { ...admitted, orphaned: await listOrphaned(tx, conversationId) }
}

/** Stores the answer and the pin, unless the question has been taken away or is being asked again. */
export async function endTurn(tx: Tx, ending: TurnEnding, at: Date): Promise<void> {
  const { conversationId, turn, agent, runId, answer, pin } = ending
  const question = await tx
    .selectFrom('messages')
    .select('id')
    .where('conversation_id', '=', conversationId)
    .where('turn', '=', turn)
    .where('role', '=', 'user')
    .where('run_id', '=', runId)
    .executeTakeFirst()
  if (!question) return
  if (answer) {
    await tx
      .insertInto('messages')
      .values({
        id: answer.id,
        conversation_id: conversationId,
        turn,
        role: 'assistant',
        agent,
        blocks: JSON.stringify(answer.blocks),
        state: answer.state,
        revision: 1,
        run_id: runId,
        created_at: at.getTime(),
        edited_at: null,
      })
      .execute()
    await tx
      .updateTable('conversations')
      .set({ updated_at: at.getTime() })
      .where('id', '=', conversationId)
      .execute()
  }
  if (pin) {
    await tx
      .updateTable('pins')
      .set({
        session_id: pin.sessionId,
        session_epoch: pin.sessionEpoch,
        seen_turn: turn,
        instructions_hash: pin.instructionsHash,
      })
      .where('conversation_id', '=', conversationId)
      .where('agent', '=', agent)
      .execute()
  }
}
