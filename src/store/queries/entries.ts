/**
 * Transcripts that the Agent SDK keeps in Reprise, entry by entry. They are stored as they come, because the SDK must
 * get back what it gave; nothing in them is redacted. An entry with a uuid that is already there is not added again.
 */
import type { Kysely } from 'kysely'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/transaction.ts'
import type { SessionEntriesTable } from './schema.ts'

export interface TranscriptKey {
  projectKey: string
  sessionId: string
  /** A transcript beside the main one: of a sub-agent, for instance. */
  subpath?: string | undefined
}

export type TranscriptEntry = Readonly<Record<string, unknown>>

export async function appendEntries(
  tx: Tx,
  key: TranscriptKey,
  entries: readonly TranscriptEntry[],
  at: Date,
): Promise<void> {
  const where = columnsOf(key)
  const newest = await select(tx, where)
    .select((eb) => eb.fn.max<number | null>('seq').as('seq'))
    .executeTakeFirst()
  let seq = Number(newest?.seq ?? 0)
  for (const entry of entries) {
    seq++
    const uuid = typeof entry.uuid === 'string' ? entry.uuid : null
    await tx
      .insertInto('session_entries')
      .values({ ...where, seq, uuid, body: JSON.stringify(entry), at: at.getTime() })
      .onConflict((oc) => oc.columns(['project_key', 'session_id', 'subpath', 'uuid']).doNothing())
      .execute()
  }
}

export async function loadEntries(db: Kysely<Tables>, key: TranscriptKey): Promise<TranscriptEntry[] | null> {
  const rows = await select(db, columnsOf(key)).select('body').orderBy('seq').execute()
  return rows.length === 0 ? null : rows.map(({ body }) => JSON.parse(body) as TranscriptEntry)
}

export async function listTranscripts(
  db: Kysely<Tables>,
  projectKey: string,
): Promise<{ sessionId: string; changedAt: Date }[]> {
  const rows = await db
    .selectFrom('session_entries')
    .select((eb) => ['session_id', eb.fn.max<number>('at').as('at')])
    .where('project_key', '=', projectKey)
    .where('subpath', '=', '')
    .groupBy('session_id')
    .execute()
  return rows.map((row) => ({ sessionId: row.session_id, changedAt: new Date(Number(row.at)) }))
}

export async function listSubpaths(
  db: Kysely<Tables>,
  { projectKey, sessionId }: TranscriptKey,
): Promise<string[]> {
  const rows = await db
    .selectFrom('session_entries')
    .select('subpath')
    .distinct()
    .where('project_key', '=', projectKey)
    .where('session_id', '=', sessionId)
    .where('subpath', '!=', '')
    .orderBy('subpath')
    .execute()
  return rows.map(({ subpath }) => subpath)
}

/** Without a subpath: the whole session. */
export async function deleteEntries(
  tx: Tx,
  { projectKey, sessionId, subpath }: TranscriptKey,
): Promise<void> {
  let deletion = tx
    .deleteFrom('session_entries')
    .where('project_key', '=', projectKey)
    .where('session_id', '=', sessionId)
  if (subpath) deletion = deletion.where('subpath', '=', subpath)
  await deletion.execute()
}

type KeyColumns = Pick<SessionEntriesTable, 'project_key' | 'session_id' | 'subpath'>

const columnsOf = ({ projectKey, sessionId, subpath = '' }: TranscriptKey): KeyColumns => ({
  project_key: projectKey,
  session_id: sessionId,
  subpath,
})

const select = (db: Kysely<Tables>, where: KeyColumns) =>
  db
    .selectFrom('session_entries')
    .where('project_key', '=', where.project_key)
    .where('session_id', '=', where.session_id)
    .where('subpath', '=', where.subpath)
