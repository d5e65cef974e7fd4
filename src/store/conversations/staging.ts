/**
 * Stores a long history without keeping other writers waiting. The messages and turns are inserted in small transactions,
 * under the ids of a conversation and a session that do not exist yet, so nobody sees them. The last transaction creates
 * both. Reading the history, perhaps from a file, happens between the transactions and never in one.
 *
 *     (noted → some → some …) → the rest, with the conversation and the session, and without the note
 *
 * A history that fits into one transaction is stored in one. A failure deletes what was inserted; if the daemon dies, the
 * note tells the next one what to delete (`forgetStaged`).
 */
import type { ConversationId, SessionId } from '../../contract/ids.ts'
import { roughChars } from '../../core/rough-chars.ts'
import type { Tx, Write } from '../base/transaction.ts'

export interface StagedIds {
  /** Their turns are deleted after a failure. */
  sessionIds: readonly SessionId[]
  conversationId: ConversationId | null
}

export interface Staging<Item, Result> {
  ids: StagedIds
  items: AsyncIterable<Item> | Iterable<Item>
  /** May be called again with the same items if a transaction is repeated. */
  insert: (tx: Tx, items: readonly Item[]) => Promise<void>
  finish: (tx: Tx) => Promise<Result>
}

const BATCH_CHARS = 1 << 20
const BATCH_ITEMS = 500
const KEY = 'staged:'

export async function stage<Item, Result>(
  write: Write,
  { ids, items, insert, finish }: Staging<Item, Result>,
): Promise<Result> {
  const key = `${KEY}${ids.sessionIds[0] ?? ids.conversationId}`
  let isNoted = false
  let batch: Item[] = []
  let chars = 0
  try {
    for await (const item of items) {
      batch.push(item)
      chars += roughChars(item)
      if (chars < BATCH_CHARS && batch.length < BATCH_ITEMS) continue
      const full = batch
      await write(async (tx) => {
        if (!isNoted)
          await tx
            .insertInto('facts')
            .values({ key, value: JSON.stringify(ids) })
            .execute()
        await insert(tx, full)
      })
      isNoted = true
      batch = []
      chars = 0
    }
    return await write(async (tx) => {
      if (batch.length > 0) await insert(tx, batch)
      if (isNoted) await tx.deleteFrom('facts').where('key', '=', key).execute()
      return finish(tx)
    })
  } catch (error) {
    if (isNoted) await write((tx) => forget(tx, key, ids))
    throw error
  }
}

/** At start: deletes what a daemon that died had inserted. */
export async function forgetStaged(tx: Tx): Promise<void> {
  const rows = await tx
    .selectFrom('facts')
    .select(['key', 'value'])
    .where('key', '>=', KEY)
    .where('key', '<', `${KEY}~`)
    .execute()
  for (const { key, value } of rows) await forget(tx, key, JSON.parse(value) as StagedIds)
}

async function forget(tx: Tx, key: string, { sessionIds, conversationId }: StagedIds): Promise<void> {
  if (conversationId) await tx.deleteFrom('messages').where('conversation_id', '=', conversationId).execute()
  if (sessionIds.length > 0)
    await tx.deleteFrom('outside_turns').where('session_id', 'in', sessionIds).execute()
  await tx.deleteFrom('facts').where('key', '=', key).execute()
}
