/** The store interface of follow-ups. */
import type { Kysely } from 'kysely'
import type { Page } from '../../contract/http.ts'
import type { FollowUpId, RunId, SessionId } from '../../contract/ids.ts'
import type { RequestKey } from '../base/request-keys.ts'
import type { Tables } from '../base/schema.ts'
import type { PlansEnd, Write } from '../base/transaction.ts'
import type { RunRecord } from '../runs/records.ts'
import * as queries from './follow-up-queries.ts'
import * as followUps from './follow-ups.ts'
import type { FollowUpRecord } from './records.ts'

export interface FollowUpStore {
  /** Returns the existing one if the tool call, or a request with the same key, asked for it before. */
  addFollowUp: (
    record: FollowUpRecord,
    room: followUps.Room,
    key?: RequestKey | null,
  ) => Promise<FollowUpRecord | followUps.NotAdded>
  findFollowUpOfCall: (call: NonNullable<FollowUpRecord['call']>) => Promise<FollowUpRecord | null>
  getFollowUp: (id: FollowUpId) => Promise<FollowUpRecord | null>
  listFollowUps: (query: queries.FollowUpQuery) => Promise<Page<FollowUpRecord>>
  /** Planned follow-ups of a chain, or of a session if there is no chain. */
  listPlannedFollowUps: (of: {
    rootRunId: RunId | null
    sessionId: SessionId | null
  }) => Promise<FollowUpRecord[]>
  /** Planned follow-ups of a run, for which its process may be kept. */
  listPlannedOfRun: (runId: RunId) => Promise<FollowUpRecord[]>
  listDueFollowUps: (now: Date, limit: number) => Promise<FollowUpRecord[]>
  nextFollowUpAt: (now: Date) => Promise<Date | null>
  /** null: it was fired already, or is not planned any more. */
  fireFollowUp: (
    followUp: Pick<FollowUpRecord, 'id' | 'firedCount'>,
    as: followUps.FiredAs,
    again: followUps.Again | null,
    at: Date,
  ) => Promise<{ run: RunRecord | null } | null>
  endFollowUp: (id: FollowUpId, end: PlansEnd, at: Date) => Promise<boolean>
  endFollowUpsOf: (rootRunId: RunId, end: PlansEnd, at: Date) => Promise<number>
  endFollowUpsOfRun: (runId: RunId, end: PlansEnd, at: Date) => Promise<number>
  /** The follow-up that was last given to a process of this run. */
  findLiveFollowUp: (runId: RunId) => Promise<FollowUpRecord | null>
}

export function createFollowUpStore(reader: Kysely<Tables>, write: Write): FollowUpStore {
  return {
    addFollowUp: (record, room, key) => write((tx) => followUps.addFollowUp(tx, record, room, key)),
    findFollowUpOfCall: (call) => queries.findOfCall(reader, call),
    getFollowUp: (id) => queries.getFollowUp(reader, id),
    listFollowUps: (query) => queries.listFollowUps(reader, query),
    listPlannedFollowUps: (of) => queries.listPlanned(reader, of),
    listPlannedOfRun: (runId) => queries.listPlannedOfRun(reader, runId),
    listDueFollowUps: (now, limit) => queries.listDue(reader, now, limit),
    nextFollowUpAt: (now) => queries.nextFollowUpAt(reader, now),
    fireFollowUp: (followUp, as, again, at) =>
      write((tx) => followUps.fireFollowUp(tx, followUp, as, again, at)),
    endFollowUp: (id, end, at) => write((tx) => followUps.endFollowUp(tx, id, end, at)),
    endFollowUpsOf: (rootRunId, end, at) => write((tx) => followUps.endPlans(tx, { rootRunId }, end, at)),
    endFollowUpsOfRun: (runId, end, at) => write((tx) => followUps.endPlans(tx, { runId }, end, at)),
    findLiveFollowUp: (runId) => queries.findLiveOf(reader, runId),
  }
}
