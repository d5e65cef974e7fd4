import { type Kysely, sql } from 'kysely'
import type { ListSort, Page } from '../../contract/http.ts'
import { type RunId, SessionId } from '../../contract/ids.ts'
import type { SessionState } from '../../contract/session.ts'
import { listOrder } from '../base/list-order.ts'
import type { Tables } from '../base/schema.ts'
import { matchesWords } from '../base/search.ts'
import type { Tx } from '../base/transaction.ts'
import type { AttemptRecord } from './attempt-records.ts'
import { toSession } from './rows.ts'
import type { NewSession, SessionRecord, SessionUpdate } from './session-records.ts'
import { moveSession } from './session-state.ts'

/** A session that a person has deleted is not found any more, also while its files are still being deleted. */
const notDeleted = (db: Kysely<Tables>) =>
  db.selectFrom('sessions').selectAll().where('deleted_at', 'is', null)

export async function getSession(db: Kysely<Tables>, id: SessionId): Promise<SessionRecord | null> {
  const row = await notDeleted(db).where('id', '=', id).executeTakeFirst()
  return row ? toSession(row) : null
}

/** Finds a session by the agent's own id, which people find in the agent's files and output. */
export async function findSession(db: Kysely<Tables>, agentSessionId: string): Promise<SessionRecord | null> {
  const row = await notDeleted(db)
    .where('agent_session_id', '=', agentSessionId)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return row ? toSession(row) : null
}

export interface SessionQuery {
  limit: number
  cursor?: string | undefined
  state?: SessionState | undefined
  agent?: string | undefined
  workDir?: string | undefined
  q?: string | undefined
  sort?: ListSort | undefined
}

export async function listSessions(db: Kysely<Tables>, query: SessionQuery): Promise<Page<SessionRecord>> {
  const order = listOrder(query, 'last_used_at', SessionId.is)
  let select = notDeleted(db)
    .orderBy(order.first, 'desc')
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
  if (order.after) select = select.where(order.after)
  if (query.state === 'poisoned') select = select.where('poison', 'is not', null)
  else if (query.state) select = select.where('state', '=', query.state).where('poison', 'is', null)
  if (query.agent !== undefined) select = select.where('agent', '=', query.agent)
  if (query.workDir !== undefined) select = select.where('work_dir', '=', query.workDir)
  const found = matchesWords(query.q, ['work_dir', 'agent', 'id', 'agent_session_id'])
  if (found) select = select.where(found)
  const rows = await select.execute()
  const items = rows.slice(0, query.limit).map(toSession)
  const last = rows.length > query.limit ? items.at(-1) : undefined
  return { items, nextCursor: last ? order.cursorOf({ id: last.id, at: last.lastUsedAt }) : null }
}

const TITLE_CHARS = 200

/** The beginning of the first prompt of each session. */
export async function readTitles(
  db: Kysely<Tables>,
  ids: readonly SessionId[],
): Promise<Map<SessionId, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('sessions')
    .select(['id'])
    .select(
      sql<string | null>`(
        select substr(runs.prompt, 1, ${sql.lit(TITLE_CHARS)}) from runs
        where runs.session_id = sessions.id order by runs.id limit 1
      )`.as('title'),
    )
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.flatMap(({ id, title }) => (title === null ? [] : [[id, title] as const])))
}

const MAX_CONTINUING = 50

export async function listContinuing(db: Kysely<Tables>, id: SessionId): Promise<SessionId[]> {
  const rows = await db
    .selectFrom('sessions')
    .select('id')
    .where('continues', '=', id)
    .orderBy('id', 'desc')
    .limit(MAX_CONTINUING)
    .execute()
  return rows.map((row) => row.id)
}

export async function findLeaseHolder(db: Kysely<Tables>, id: SessionId): Promise<RunId | null> {
  const row = await db
    .selectFrom('leases')
    .select('run_id')
    .where('session_id', '=', id)
    .where('process_id', 'is not', null)
    .executeTakeFirst()
  return row?.run_id ?? null
}

const RECENT_ATTEMPTS = 50

/** Only attempts for which the model was called: an agent may not have written down what it did without the model. */
export async function findAnsweredPrompt(
  db: Kysely<Tables>,
  { id, agentSessionId }: Pick<SessionRecord, 'id' | 'agentSessionId'>,
): Promise<string | null> {
  const rows = await db
    .selectFrom('runs')
    .innerJoin('attempts', 'attempts.run_id', 'runs.id')
    .select(['attempts.prompt_id', 'attempts.outcome'])
    .where('runs.session_id', '=', id)
    .where('attempts.agent_session_id', '=', agentSessionId)
    .where('attempts.kind', '=', 'turn')
    .where('attempts.state', '=', 'ended')
    .where('attempts.cost_usd', '>', 0)
    .orderBy('runs.id', 'desc')
    .orderBy('attempts.number', 'desc')
    .limit(RECENT_ATTEMPTS)
    .execute()
  const completed = rows.find((row) => row.outcome && JSON.parse(row.outcome).name === 'completed')
  return completed?.prompt_id ?? null
}

export async function updateSession(
  tx: Tx,
  { sessionId, runtime }: Pick<AttemptRecord, 'sessionId' | 'runtime'>,
  update: SessionUpdate,
  costUsd: number,
  at: Date,
): Promise<void> {
  // An agent that never accepted the prompt wrote nothing: if it failed at once, the session still belongs to the
  // previous runtime.
  const wrote = update.turns > 0 ? runtime : null
  await tx
    .updateTable('sessions')
    .set((eb) => ({
      ...(wrote === null ? {} : { runtime_id: wrote.id, runtime: JSON.stringify(wrote) }),
      ...(update.cacheState ? { cache_state: JSON.stringify(update.cacheState) } : {}),
      ...(update.poison === null ? {} : { poison: JSON.stringify(update.poison) }),
      ...(update.contextTokens === null ? {} : { context_tokens: update.contextTokens }),
      ...(update.contextWindow === null ? {} : { context_window: update.contextWindow }),
      ...(update.told === null ? {} : { told: update.told.told, compacted: update.told.compacted ? 1 : 0 }),
      // The agent has begun a new file (`/clear`): the one-time texts may be missing there.
      ...(update.agentSessionId === null ? {} : { agent_session_id: update.agentSessionId, compacted: 1 }),
      ...(update.end
        ? {
            stop_reason: update.end.stopReason,
            finished: update.end.finished ? 1 : 0,
            messages: eb('messages', '+', update.end.messages),
            input_tokens: eb('input_tokens', '+', update.end.usage.inputTokens),
            output_tokens: eb('output_tokens', '+', update.end.usage.outputTokens),
            cache_read_tokens: eb('cache_read_tokens', '+', update.end.usage.cacheReadTokens),
            cache_write_tokens: eb('cache_write_tokens', '+', update.end.usage.cacheWriteTokens),
          }
        : { finished: 0 }),
      turns: eb('turns', '+', update.turns),
      cost_usd: eb('cost_usd', '+', costUsd),
      last_used_at: at.getTime(),
    }))
    .where('id', '=', sessionId)
    .execute()
  // An adapter that does not report when its agent accepts a prompt: the turn shows that it did.
  if (update.turns > 0) await moveSession(tx, sessionId, { kind: 'message' }, at)
  await moveSession(tx, sessionId, { kind: 'turn-end' }, at)
}

/** Clears the record that the session could not be resumed: the session was not the cause. */
export async function clearPoison(tx: Tx, id: SessionId): Promise<void> {
  await tx.updateTable('sessions').set({ poison: null }).where('id', '=', id).execute()
}

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  await tx
    .insertInto('sessions')
    .values({
      id: session.id,
      agent: session.agent,
      agent_session_id: session.agentSessionId,
      work_dir: session.workDir,
      work_dir_id: session.workDirId,
      runtime_id: session.runtimeId,
      runtime: session.runtime && JSON.stringify(session.runtime),
      epoch: session.epoch,
      continues: session.continues,
      compacted: 0,
      turns: 0,
      resumes: 0,
      cost_usd: 0,
      state: 'created',
      state_at: session.createdAt.getTime(),
      created_at: session.createdAt.getTime(),
      last_used_at: session.lastUsedAt.getTime(),
    } as Tables['sessions'])
    .execute()
}
