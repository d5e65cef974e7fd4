/** The store interface of watches and their cycles. */
import type { Kysely } from 'kysely'
import type { CycleOutcome, WatchEvent } from '../../contract/cycle.ts'
import type { Page } from '../../contract/http.ts'
import type { AttemptId, CycleId, RunId, SessionId, WatchId } from '../../contract/ids.ts'
import type { RequestKey } from '../base/request-keys.ts'
import type { Tables } from '../base/schema.ts'
import type { Write } from '../base/transaction.ts'
import type { RunSpend } from '../runs/records.ts'
import * as queries from './cycle-queries.ts'
import * as totals from './cycle-totals.ts'
import * as cycles from './cycles.ts'
import { type CycleEnd, endCycle } from './end-cycle.ts'
import type { CycleRecord, WatchRecord } from './records.ts'
import { openWatch, type Sealer, sealDefinition, sealStored } from './sealed.ts'
import * as taking from './take-events.ts'
import * as events from './watch-events.ts'
import * as watches from './watches.ts'

export interface WatchStore {
  /** Refused if a watch of that name exists. */
  addWatch: (watch: WatchRecord) => Promise<WatchRecord>
  updateWatch: (id: WatchId, change: watches.WatchChange, at: Date) => Promise<WatchRecord | null>
  /** Also cancels its queued cycles; an open cycle continues. */
  removeWatch: (id: WatchId, at: Date) => Promise<boolean>
  findWatch: (idOrName: string) => Promise<WatchRecord | null>
  /** Also returns a removed watch. */
  getWatch: (id: WatchId) => Promise<WatchRecord | null>
  listWatches: () => Promise<WatchRecord[]>
  /** Seals secrets that an earlier version stored as they were. */
  sealSecrets: () => Promise<number>
  listDueWatches: (now: Date, limit: number) => Promise<WatchRecord[]>
  nextWatchAt: () => Promise<Date | null>
  /** null: it was not due any more. */
  fireWatch: (
    watch: WatchRecord,
    cycle: cycles.NewCycle,
    next: WatchRecord['due'],
  ) => Promise<CycleRecord | null>

  /** Returns the existing one if a request with the same key asked for it before. */
  addCycle: (cycle: cycles.NewCycle, key?: RequestKey | null) => Promise<CycleRecord>
  /** null: the cycle is not queued any more, got more events meanwhile, or another one of its watch is open. */
  startCycle: (start: cycles.CycleStart, at: Date) => Promise<CycleRecord | null>
  /**
   * Decides the outcome before the end; planned follow-ups are missed. null: the cycle is not open, or its outcome is
   * decided.
   */
  concludeCycle: (
    id: CycleId,
    outcome: CycleOutcome,
    message: string,
    at: Date,
  ) => Promise<CycleRecord | null>
  /** Returns false if it has ended already, or is not finished. */
  endCycle: (id: CycleId, end: CycleEnd, at: Date) => Promise<boolean>
  getCycle: (id: CycleId) => Promise<CycleRecord | null>
  /** Queued and open cycles, of one watch or of all. */
  listUnfinishedCycles: (watchId?: WatchId) => Promise<CycleRecord[]>
  listCycles: (query: queries.CycleQuery) => Promise<Page<CycleRecord>>
  /** The spending of runs that were created since then in cycles of a watch. */
  listSpendOfWatch: (id: WatchId, since: Date) => Promise<Pick<RunSpend, 'usage' | 'costUsd'>[]>
  readCycleTotals: (ids: readonly CycleId[]) => Promise<Map<CycleId, totals.CycleTotals>>
  receiveEvents: <D extends events.EventDecision>(
    watchId: WatchId,
    received: { firing: readonly WatchEvent[]; resolved: readonly string[] },
    decide: (facts: events.EventFacts) => D,
    at: Date,
  ) => Promise<{ decision: D; cycle: CycleRecord | null }>
  forgetEvents: (before: Date) => Promise<void>
  /** The events that wait behind this cycle, oldest first; none if the cycle is not open. */
  listWaitingEvents: (openId: CycleId) => Promise<taking.WaitingEvent[]>
  /** Moves events to the open cycle, whose agent has read them. May be repeated. */
  takeEvents: (
    openId: CycleId,
    attempt: { id: AttemptId; runId: RunId; sessionId: SessionId },
    taken: readonly taking.TakenEvent[],
    at: Date,
  ) => Promise<void>
}

export function createWatchStore(reader: Kysely<Tables>, write: Write, sealer: Sealer): WatchStore {
  const open = (watch: WatchRecord) => openWatch(sealer, watch)
  const openIf = (watch: WatchRecord | null) => watch && open(watch)
  return {
    sealSecrets: () => write((tx) => sealStored(tx, sealer)),
    addWatch: (watch) => {
      const definition = sealDefinition(sealer, watch.definition)
      return write((tx) => watches.addWatch(tx, { ...watch, definition })).then(open)
    },
    updateWatch: (id, change, at) => {
      const { definition } = change
      const sealed = definition ? { ...change, definition: sealDefinition(sealer, definition) } : change
      return write((tx) => watches.updateWatch(tx, id, sealed, at)).then(openIf)
    },
    removeWatch: (id, at) => write((tx) => watches.removeWatch(tx, id, at)),
    findWatch: (idOrName) => watches.findWatch(reader, idOrName).then(openIf),
    getWatch: (id) => watches.getWatch(reader, id).then(openIf),
    listWatches: async () => (await watches.listWatches(reader)).map(open),
    listDueWatches: async (now, limit) => (await watches.listDueWatches(reader, now, limit)).map(open),
    nextWatchAt: () => watches.nextWatchAt(reader),
    fireWatch: (watch, cycle, next) => write((tx) => watches.fireWatch(tx, watch, cycle, next)),

    addCycle: (cycle, key) => write((tx) => cycles.addWantedCycle(tx, cycle, key ?? null)),
    startCycle: (start, at) => write((tx) => cycles.startCycle(tx, start, at)),
    concludeCycle: (id, outcome, message, at) =>
      write((tx) => cycles.concludeCycle(tx, id, outcome, message, at)),
    endCycle: (id, end, at) => write((tx) => endCycle(tx, id, end, at)),
    getCycle: (id) => queries.getCycle(reader, id),
    listUnfinishedCycles: (watchId) => queries.listUnfinished(reader, watchId ?? null),
    listCycles: (query) => queries.listCycles(reader, query),
    listSpendOfWatch: (id, since) => totals.listSpendOfWatch(reader, id, since),
    readCycleTotals: (ids) => totals.readCycleTotals(reader, ids),
    receiveEvents: (watchId, received, decide, at) =>
      write((tx) => events.receiveEvents(tx, watchId, received, decide, at)),
    forgetEvents: (before) => write((tx) => events.forgetEvents(tx, before)),
    listWaitingEvents: (openId) => taking.listWaitingEvents(reader, openId),
    takeEvents: (openId, attempt, taken, at) =>
      write((tx) => taking.takeEvents(tx, openId, attempt, taken, at)),
  }
}
