/**
 * Changes to messages: edit, truncate, retry, delete. The same transaction increments the epoch of exactly those agents
 * that were given a different history before. `isHistoryChanged` decides that from what each agent's session has seen,
 * or is being given now. Follow-ups that a turn planned are cancelled when the turn is removed.
 */
import { randomUUID } from 'node:crypto'
import type { ContentBlock } from '../../contract/conversation.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { ConversationId, MessageId, RunId } from '../../contract/ids.ts'
import { isHistoryChanged } from '../../core/history/view.ts'
import type { Tx } from '../base/transaction.ts'
import { claimRun, insertRun } from '../runs/admit-run.ts'
import { markSessionsOf } from '../runs/delete-session.ts'
import type { NewRun, RunRecord } from '../runs/records.ts'
import { announcePlansEnded } from '../runs/run-changes.ts'
import { cancelRuns, getRun } from '../runs/runs.ts'
import { listOpenRuns, noConversation, requireConversation } from './conversations.ts'
import type { MessageRecord } from './records.ts'
import { toMessage } from './rows.ts'
import { ensurePin, listMessages, listPins } from './turns.ts'

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

/** Applies the change and increments the epochs of the agents whose history it changes. */
async function changeHistory<T>(tx: Tx, id: ConversationId, at: Date, change: () => Promise<T>): Promise<T> {
  // The update comes first, so that two changes of one conversation are serialised.
  const conversation = await tx
    .updateTable('conversations')
    .set((eb) => ({ updated_at: at.getTime(), revision: eb('revision', '+', 1) }))
    .where('id', '=', id)
    .returning('history_scope')
    .executeTakeFirst()
  if (!conversation) throw noConversation(id)
  const before = await listMessages(tx, id)
  const result = await change()
  const after = await listMessages(tx, id)
  // Once a run was started, its session may have received the question, also while the run waits for another attempt.
  const running = (await listOpenRuns(tx, id)).filter(
    (run) => run.state === 'running' || run.attempt_count > 0,
  )
  const lastTurn = after.at(-1)?.turn ?? 0
  const lastAsked = await lastTurnBySession(tx, id)
  for (const pin of await listPins(tx, id)) {
    const seeing = running.filter((run) => run.agent === pin.agent).map((run) => run.turn ?? 0)
    // The session has seen the messages exchanged in it outside Reprise, although it has had no turn of ours since.
    const outside = before.flatMap((m) => (m.origin === 'outside' && m.agent === pin.agent ? [m.turn] : []))
    const seen = {
      // A turn that is asked again may run in a new session, at an earlier turn than the first one of the pinned
      // session.
      since: Math.min(pin.sinceTurn ?? Number.POSITIVE_INFINITY, ...seeing),
      upTo: Math.max(pin.seenTurn ?? 0, lastAsked.get(pin.sessionId ?? '') ?? 0, ...seeing, ...outside),
    }
    const changed = isHistoryChanged(pin.agent, conversation.history_scope, seen, before, after)
    await tx
      .updateTable('pins')
      .set((eb) => ({
        ...(changed ? { epoch: eb('epoch', '+', 1) } : {}),
        seen_turn: pin.seenTurn === null ? null : Math.min(pin.seenTurn, lastTurn),
      }))
      .where('conversation_id', '=', id)
      .where('agent', '=', pin.agent)
      .execute()
  }
  await dropPlans(tx, before, after, at)
  await tx.updateTable('conversations').set({ turn_count: lastTurn }).where('id', '=', id).execute()
  return result
}

/**
 * The last turn asked in each session. A session may hold a question that does not count as seen, because a command may
 * have dropped the history that was sent with it.
 */
async function lastTurnBySession(tx: Tx, id: ConversationId): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('runs')
    .select(['session_id', (eb) => eb.fn.max('turn').as('turn')])
    .where('conversation_id', '=', id)
    .where('session_id', 'is not', null)
    .groupBy('session_id')
    .execute()
  return new Map(rows.map(({ session_id, turn }) => [session_id ?? '', Number(turn ?? 0)]))
}

/** Cancels follow-ups that were planned by turns whose question or answer was removed. */
async function dropPlans(
  tx: Tx,
  before: readonly MessageRecord[],
  after: readonly MessageRecord[],
  at: Date,
): Promise<void> {
  const still = new Set(after.map(({ role, runId }) => `${role} ${runId}`))
  const gone = before.flatMap(({ role, runId }) => (runId && !still.has(`${role} ${runId}`) ? [runId] : []))
  const end = { state: 'cancelled', by: 'person', message: 'its turn was removed' } as const
  for (const id of new Set(gone)) await announcePlansEnded(tx, { runId: id }, end, at)
}

export interface EditedMessage {
  message: MessageRecord
  /** The run that now asks the new text; its attempt in progress must be ended. */
  outdated: RunId | null
}

/**
 * A turn that is not answered yet is asked with the new text. Attempts that have begun are outdated: the one in
 * progress must be ended, and no output of them becomes part of the answer.
 */
export async function editMessage(
  tx: Tx,
  conversationId: ConversationId,
  id: MessageId,
  text: string,
  at: Date,
): Promise<EditedMessage> {
  const message = await requireMessage(tx, conversationId, id)
  const blocks: ContentBlock[] = [{ type: 'text', text }]
  if (JSON.stringify(message.blocks) === JSON.stringify(blocks)) return { message, outdated: null }
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
  const asked = message.role === 'user' && message.runId ? await askAnew(tx, message.runId, text) : null
  return { message: await requireMessage(tx, conversationId, id), outdated: asked }
}

/** Returns the run if it is not settled; its attempts so far are outdated. */
async function askAnew(tx: Tx, id: RunId, text: string): Promise<RunId | null> {
  const row = await tx
    .updateTable('runs')
    .set((eb) => ({
      prompt: text,
      // A new text needs a new message id, so that the agent does not take it for the old message.
      prompt_id: randomUUID(),
      outdated_attempts: eb.ref('attempt_count'),
      result_text: null,
    }))
    .where('id', '=', id)
    .where('state', '<>', 'settled')
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

/** Removes the message and all after it. Returns the runs that were to answer removed questions. */
export async function truncate(
  tx: Tx,
  conversationId: ConversationId,
  id: MessageId,
  at: Date,
): Promise<{ removed: number; orphaned: RunId[] }> {
  const message = await requireMessage(tx, conversationId, id)
  const removed = await changeHistory(tx, conversationId, at, () => removeFrom(tx, message))
  return { removed, orphaned: await cancelOrphaned(tx, conversationId, at) }
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

/** Cancels open runs whose question was removed. In the same transaction, because after a crash they would run. */
async function cancelOrphaned(tx: Tx, conversationId: ConversationId, at: Date): Promise<RunId[]> {
  const open = await listOpenRuns(tx, conversationId)
  const awaited = new Set(
    (await listMessages(tx, conversationId)).flatMap((m) => (m.role === 'user' ? [m.runId] : [])),
  )
  const orphaned = open.map((run) => run.id).filter((id) => !awaited.has(id))
  await cancelRuns(tx, orphaned, at)
  return orphaned
}

/** Asks the question of that turn again and removes everything after it. */
export async function retryFrom(
  tx: Tx,
  conversationId: ConversationId,
  id: MessageId,
  createRun: (question: MessageRecord, before: RunRecord | null) => NewRun,
): Promise<{ run: RunRecord; created: boolean; orphaned: RunId[] }> {
  const { turn } = await requireMessage(tx, conversationId, id)
  const question = (await listMessages(tx, conversationId)).find((m) => m.turn === turn && m.role === 'user')
  if (!question) throw new RepriseError('conflict', `there is no question before message ${id} to ask again`)
  const run = createRun(question, question.runId && (await getRun(tx, question.runId)))
  const known = await claimRun(tx, { ...run, conversation: { id: conversationId, turn } })
  if (known) return { run: known, created: false, orphaned: [] }
  await changeHistory(tx, conversationId, run.createdAt, async () => {
    await removeFrom(tx, { ...question, role: 'assistant' })
    // Asking again changes the history of a session that has received the question, even if it never answered.
    await tx
      .updateTable('messages')
      .set((eb) => ({ run_id: run.id, agent: run.agent, origin: null, revision: eb('revision', '+', 1) }))
      .where('id', '=', question.id)
      .execute()
  })
  await ensurePin(tx, conversationId, run.agent)
  const { workDir } = await requireConversation(tx, conversationId)
  const asked = await insertRun(tx, { ...run, workDir, conversation: { id: conversationId, turn } })
  return { run: asked, created: true, orphaned: await cancelOrphaned(tx, conversationId, run.createdAt) }
}

/** The runs stay as a record of what was done; those that are not settled are cancelled. */
export async function deleteConversation(tx: Tx, id: ConversationId, at: Date): Promise<RunId[]> {
  const { numDeletedRows } = await tx.deleteFrom('conversations').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw noConversation(id)
  await markSessionsOf(tx, id, at)
  const open = await listOpenRuns(tx, id)
  await dropPlans(tx, await listMessages(tx, id), [], at)
  await tx.deleteFrom('messages').where('conversation_id', '=', id).execute()
  await tx.deleteFrom('pins').where('conversation_id', '=', id).execute()
  const ids = open.map((run) => run.id)
  await cancelRuns(tx, ids, at)
  return ids
}
