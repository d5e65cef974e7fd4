/** Whether a run is to be in a sandbox because an earlier run of its conversation or session was asked to be. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../base/schema.ts'
import type { RunRecord } from './records.ts'

export interface WishedRun extends Pick<RunRecord, 'id' | 'sessionId'> {
  links: Pick<RunRecord['links'], 'conversationId'>
}

/** The value of the newest earlier run that states one; null: none does. */
export async function findSandboxWish(
  db: Kysely<Tables>,
  { id, sessionId, links: { conversationId } }: WishedRun,
): Promise<boolean | null> {
  if (sessionId === null && conversationId === null) return null
  const row = await db
    .selectFrom('runs')
    .select(sql<number>`json_extract(request, '$.sandbox')`.as('wish'))
    .where((of) =>
      of.or([
        ...(sessionId === null ? [] : [of('session_id', '=', sessionId)]),
        ...(conversationId === null ? [] : [of('conversation_id', '=', conversationId)]),
      ]),
    )
    .where('id', '<', id)
    .where(sql`json_extract(request, '$.sandbox')`, 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? row.wish === 1 : null
}
