/** Conversations themselves. Their messages are in turns.ts, changes to messages in history-changes.ts. */
import type { Kysely } from 'kysely'
import { RepriseError } from '../../contract/errors.ts'
import type { ListSort, Page } from '../../contract/http.ts'
import { ConversationId } from '../../contract/ids.ts'
import { listOrder } from '../base/list-order.ts'
import type { Tables } from '../base/schema.ts'
import { matchesWords } from '../base/search.ts'
import type { Tx } from '../base/transaction.ts'
import type { ConversationRecord, NewConversation } from './records.ts'
import { toConversation } from './rows.ts'

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
      revision: 0,
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

export async function requireConversation(db: Db, id: ConversationId): Promise<ConversationRecord> {
  const conversation = await getConversation(db, id)
  if (conversation) return conversation
  throw noConversation(id)
}

export const noConversation = (id: ConversationId) =>
  new RepriseError('not-found', `there is no conversation ${id}`, {
    hint: '`reprise conversations` lists them.',
  })

export interface ConversationQuery {
  limit: number
  cursor?: string | undefined
  q?: string | undefined
  sort?: ListSort | undefined
}

export async function listConversations(db: Db, query: ConversationQuery): Promise<Page<ConversationRecord>> {
  const order = listOrder(query, 'updated_at', ConversationId.is)
  let select = db
    .selectFrom('conversations')
    .selectAll()
    .orderBy(order.first, 'desc')
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
  if (order.after) select = select.where(order.after)
  const found = matchesWords(query.q, ['title', 'work_dir', 'agent', 'id'])
  if (found) select = select.where(found)
  const rows = await select.execute()
  const items = rows.slice(0, query.limit).map(toConversation)
  const last = rows.length > query.limit ? items.at(-1) : undefined
  return { items, nextCursor: last ? order.cursorOf({ id: last.id, at: last.updatedAt }) : null }
}

export interface ConversationChange {
  title?: string | undefined
  instructions?: string | null | undefined
  workDir?: string | undefined
}

export async function updateConversation(
  tx: Tx,
  id: ConversationId,
  change: ConversationChange,
  at: Date,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('conversations')
    .set({
      updated_at: at.getTime(),
      ...(change.title === undefined ? {} : { title: change.title }),
      ...(change.instructions === undefined ? {} : { instructions: change.instructions }),
    })
    .where('id', '=', id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw noConversation(id)
  if (change.workDir !== undefined) await moveConversation(tx, id, change.workDir)
}

/**
 * Queued turns move with the conversation; a running one moves when it gets another attempt. An attempt that was
 * prepared for the old directory must not start.
 */
async function moveConversation(tx: Tx, id: ConversationId, workDir: string): Promise<void> {
  await tx
    .updateTable('conversations')
    .set((eb) => ({ work_dir: workDir, revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .execute()
  await tx
    .updateTable('runs')
    .set({ work_dir: workDir })
    .where('conversation_id', '=', id)
    .where('state', '=', 'queued')
    .execute()
}

export async function listOpenRuns(db: Db, id: ConversationId) {
  return db
    .selectFrom('runs')
    .select(['id', 'turn', 'agent', 'state', 'attempt_count'])
    .where('conversation_id', '=', id)
    .where('state', '<>', 'settled')
    .execute()
}
