/** The store interface of retention: what is old and not needed any more, and its deletion in small steps. */
import { type Kysely, sql } from 'kysely'
import type { RunId, SessionId } from '../../contract/ids.ts'
import type { Tables } from '../base/schema.ts'
import type { GroupWriter } from '../base/writer.ts'
import { markSessionDeleted } from '../runs/delete-session.ts'
import * as sessions from './sessions.ts'
import { isAnyInUse } from './sessions-in-use.ts'
import * as rest from './sweep-rest.ts'
import * as runs from './sweep-runs.ts'

export interface KeepStore {
  listOldRuns: (query: runs.SweepQuery, what: 'runs' | 'events') => Promise<runs.RunCursor[]>
  /** The rows that would be removed with the run. */
  measureGroup: (id: RunId, before: Date) => Promise<runs.Visited<runs.SweptGroup>>
  deleteGroup: (id: RunId, before: Date) => Promise<runs.Visited<runs.SweptGroup>>
  measureEvents: (id: RunId, before: Date) => Promise<runs.Visited<runs.Swept>>
  /** Deletes some events of the run and its group; to be repeated until it is done. */
  thinEvents: (id: RunId, before: Date) => Promise<runs.Visited<runs.Swept> & { done: boolean }>
  countOld: (what: rest.OldRows, before: Date) => Promise<number>
  /** Deletes some; to be repeated until there are none. */
  deleteOld: (what: rest.OldRows, before: Date) => Promise<number>
  countEndedNotifications: (before: Date) => Promise<runs.Swept>
  /** Whether the session was used since then, or something will go on in it. */
  isSessionInUse: (id: SessionId, since: Date) => Promise<boolean>
  markSessionDeleted: (id: SessionId, at: Date) => Promise<void>
  listDeletedSessions: () => Promise<sessions.DeletedSession[]>
  forgetSession: (id: SessionId) => Promise<void>
  listUnusedSessions: (before: Date) => Promise<SessionId[]>
  forgetUnusedSession: (id: SessionId, before: Date) => Promise<boolean>
}

/** Deletions are not urgent: they share commits with what agents print. */
export function createKeepStore(reader: Kysely<Tables>, group: GroupWriter): KeepStore {
  const { write } = group
  const later: typeof write = (work) => group.enqueue(work)
  return {
    listOldRuns: (query, what) => runs.listOldRuns(reader, query, what),
    measureGroup: (id, before) => runs.measureGroup(reader, id, before),
    deleteGroup: (id, before) => later((tx) => runs.deleteGroup(tx, id, before)),
    measureEvents: (id, before) => runs.measureEvents(reader, id, before),
    thinEvents: (id, before) => later((tx) => runs.thinEvents(tx, id, before)),
    countOld: (what, before) => rest.countOld(reader, what, before),
    deleteOld: (what, before) => later((tx) => rest.deleteOld(tx, what, before)),
    countEndedNotifications: async (before) => {
      const row = await reader
        .selectFrom('notifications')
        .select((eb) => [
          eb.fn.countAll<number>().as('n'),
          sql<number>`coalesce(sum(octet_length(payload)), 0)`.as('bytes'),
        ])
        .where('state', '<>', 'pending')
        .where('ended_at', '<', before.getTime())
        .executeTakeFirstOrThrow()
      return { count: Number(row.n), bytes: Number(row.bytes) }
    },
    isSessionInUse: (id, since) => isAnyInUse(reader, [id], since, { pinned: false, continued: false }),
    markSessionDeleted: (id, at) => write((tx) => markSessionDeleted(tx, id, at)),
    listDeletedSessions: () => sessions.listDeletedSessions(reader),
    forgetSession: (id) => write((tx) => sessions.forgetSession(tx, id)),
    listUnusedSessions: (before) => sessions.listUnusedSessions(reader, before),
    forgetUnusedSession: (id, before) => later((tx) => sessions.forgetUnusedSession(tx, id, before)),
  }
}
