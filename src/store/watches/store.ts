/** The part of the store that watches, cycles and follow-ups need. */
import type { Kysely } from 'kysely'
import type { Page } from '../../contract/http.ts'
import type { CycleId, FollowUpId, RunId, SessionId, WatchId } from '../../contract/ids.ts'
import type { CycleOutcome, WatchEvent } from '../../contract/watch.ts'
import type { RequestKey } from '../base/request-keys.ts'
import * as requestKeys from '../base/request-keys.ts'
import type { Tables } from '../base/schema.ts'
import type { Tx } from '../base/writer.ts'
import * as followUps from '../follow-ups/follow-ups.ts'
import type { FollowUpRecord } from '../follow-ups/records.ts'
import type { RunRecord, RunSpend } from '../runs/records.ts'
import * as cycles from './cycles.ts'
import type { CycleRecord, WatchRecord } from './records.ts'
import * as events from './watch-events.ts'
import * as watches from './watches.ts'

export interface Watching {
  /** Refused if there is one of that name. */
  addWatch: (watch: WatchRecord) => Promise<WatchRecord>
  updateWatch: (id: WatchId, change: watches.WatchChange, at: Date) => Promise<WatchRecord | null>
  /** With what it has queued; an open cycle goes on. */
  removeWatch: (id: WatchId, at: Date) => Promise<boolean>
  findWatch: (idOrName: string) => Promise<WatchRecord | null>
  /** Also if it is removed. */
  getWatch: (id: WatchId) => Promise<WatchRecord | null>
  listWatches: () => Promise<WatchRecord[]>
  listDueWatches: (now: Date, limit: number) => Promise<WatchRecord[]>
  nextWatchAt: () => Promise<Date | null>
  /** null: it was not due any more. */
  fireWatch: (
    watch: WatchRecord,
    cycle: cycles.NewCycle,
    next: WatchRecord['due'],
  ) => Promise<CycleRecord | null>

  /** The one there is, if a request with the same key asked for it before. */
  addCycle: (cycle: cycles.NewCycle, key?: RequestKey | null) => Promise<CycleRecord>
  /** null: it is not queued any more, it got more events meanwhile, or another of its watch is open. */
  startCycle: (start: cycles.CycleStart, at: Date) => Promise<CycleRecord | null>
  /** What it will have ended as is certain; what it still waits for is missed. null: it is not open, or that is known. */
  concludeCycle: (
    id: CycleId,
    outcome: CycleOutcome,
    message: string,
    at: Date,
  ) => Promise<CycleRecord | null>
  /** False: it has ended, or is not over. */
  endCycle: (id: CycleId, end: cycles.CycleEnd, at: Date) => Promise<boolean>
  getCycle: (id: CycleId) => Promise<CycleRecord | null>
  /** Queued and open ones, of one watch or of all. */
  listUnfinishedCycles: (watchId?: WatchId) => Promise<CycleRecord[]>
  listCycles: (query: cycles.CycleQuery) => Promise<Page<CycleRecord>>
  /** Of the runs that were created since then in cycles of a watch. */
  listSpendOfWatch: (id: WatchId, since: Date) => Promise<Pick<RunSpend, 'usage' | 'costUsd'>[]>
  readCycleTotals: (ids: readonly CycleId[]) => Promise<Map<CycleId, cycles.CycleTotals>>
  receiveEvents: <D extends events.EventDecision>(
    watchId: WatchId,
    received: { firing: readonly WatchEvent[]; resolved: readonly string[] },
    decide: (facts: events.EventFacts) => D,
    at: Date,
  ) => Promise<{ decision: D; cycle: CycleRecord | null }>
  forgetEvents: (before: Date) => Promise<void>

  /** The id of what a request with this key made; one with the same key and other wishes is refused. */
  findMade: (key: RequestKey) => Promise<string | null>

  /** The one there is, if the call, or a request with the same key, asked for it before. */
  addFollowUp: (
    record: FollowUpRecord,
    room: followUps.Room,
    key?: RequestKey | null,
  ) => Promise<FollowUpRecord | followUps.NotAdded>
  findFollowUpOfCall: (call: NonNullable<FollowUpRecord['call']>) => Promise<FollowUpRecord | null>
  getFollowUp: (id: FollowUpId) => Promise<FollowUpRecord | null>
  listFollowUps: (query: followUps.FollowUpQuery) => Promise<Page<FollowUpRecord>>
  /** Of a chain, or of a session where there is no chain. */
  listPlannedFollowUps: (of: {
    rootRunId: RunId | null
    sessionId: SessionId | null
  }) => Promise<FollowUpRecord[]>
  /** What a run asked for and may still be kept waiting for. */
  listPlannedOfRun: (runId: RunId) => Promise<FollowUpRecord[]>
  listDueFollowUps: (now: Date, limit: number) => Promise<FollowUpRecord[]>
  nextFollowUpAt: (now: Date) => Promise<Date | null>
  /** null: somebody else did, or it is not planned any more. */
  fireFollowUp: (
    followUp: Pick<FollowUpRecord, 'id' | 'firedCount'>,
    as: followUps.FiredAs,
    again: followUps.Again | null,
    at: Date,
  ) => Promise<{ run: RunRecord | null } | null>
  endFollowUp: (id: FollowUpId, end: followUps.FollowUpEnd, at: Date) => Promise<boolean>
  endFollowUpsOf: (rootRunId: RunId, end: followUps.FollowUpEnd, at: Date) => Promise<number>
  endFollowUpsOfRun: (runId: RunId, end: followUps.FollowUpEnd, at: Date) => Promise<number>
  /** The newest that was given to a process of this run. */
  findLiveFollowUp: (runId: RunId) => Promise<FollowUpRecord | null>
}

export function createWatching(
  reader: Kysely<Tables>,
  write: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
): Watching {
  return {
    addWatch: (watch) => write((tx) => watches.addWatch(tx, watch)),
    updateWatch: (id, change, at) => write((tx) => watches.updateWatch(tx, id, change, at)),
    removeWatch: (id, at) => write((tx) => watches.removeWatch(tx, id, at)),
    findWatch: (idOrName) => watches.findWatch(reader, idOrName),
    getWatch: (id) => watches.getWatch(reader, id),
    listWatches: () => watches.listWatches(reader),
    listDueWatches: (now, limit) => watches.listDueWatches(reader, now, limit),
    nextWatchAt: () => watches.nextWatchAt(reader),
    fireWatch: (watch, cycle, next) => write((tx) => watches.fireWatch(tx, watch, cycle, next)),

    addCycle: (cycle, key) => write((tx) => cycles.addWantedCycle(tx, cycle, key ?? null)),
    startCycle: (start, at) => write((tx) => cycles.startCycle(tx, start, at)),
    concludeCycle: (id, outcome, message, at) =>
      write((tx) => cycles.concludeCycle(tx, id, outcome, message, at)),
    endCycle: (id, end, at) => write((tx) => cycles.endCycle(tx, id, end, at)),
    getCycle: (id) => cycles.getCycle(reader, id),
    listUnfinishedCycles: (watchId) => cycles.listUnfinished(reader, watchId ?? null),
    listCycles: (query) => cycles.listCycles(reader, query),
    listSpendOfWatch: (id, since) => cycles.listSpendOfWatch(reader, id, since),
    readCycleTotals: (ids) => cycles.readCycleTotals(reader, ids),
    receiveEvents: (watchId, received, decide, at) =>
      write((tx) => events.receiveEvents(tx, watchId, received, decide, at)),
    forgetEvents: (before) => write((tx) => events.forgetEvents(tx, before)),

    findMade: (key) => requestKeys.findMade(reader, key),

    addFollowUp: (record, room, key) => write((tx) => followUps.addFollowUp(tx, record, room, key)),
    findFollowUpOfCall: (call) => followUps.findOfCall(reader, call),
    getFollowUp: (id) => followUps.getFollowUp(reader, id),
    listFollowUps: (query) => followUps.listFollowUps(reader, query),
    listPlannedFollowUps: (of) => followUps.listPlanned(reader, of),
    listPlannedOfRun: (runId) => followUps.listPlannedOfRun(reader, runId),
    listDueFollowUps: (now, limit) => followUps.listDue(reader, now, limit),
    nextFollowUpAt: (now) => followUps.nextFollowUpAt(reader, now),
    fireFollowUp: (followUp, as, again, at) =>
      write((tx) => followUps.fireFollowUp(tx, followUp, as, again, at)),
    endFollowUp: (id, end, at) => write((tx) => followUps.endFollowUp(tx, id, end, at)),
    endFollowUpsOf: (rootRunId, end, at) => write((tx) => followUps.endFollowUpsOf(tx, rootRunId, end, at)),
    endFollowUpsOfRun: (runId, end, at) => write((tx) => followUps.endFollowUpsOfRun(tx, runId, end, at)),
    findLiveFollowUp: (runId) => followUps.findLiveOf(reader, runId),
  }
}
