/**
 * The store as the engine sees it: asynchronous and independent of the database. Every write is one atomic piece; when
 * its promise resolves, it is on disk.
 *
 * Each feature declares and builds its part in its own folder, so that a module can depend on the part it needs.
 * Features import only `base` and `runs`. What a feature does when a run changes is either a listener, listed here, or
 * an effect, passed with the change; see base/transaction.ts.
 */
import type { Kysely } from 'kysely'
import type { MachineId } from '../contract/ids.ts'
import type { CostRow } from '../contract/overview.ts'
import type { Referable } from '../contract/reference.ts'
import type { Stats } from '../contract/stats.ts'
import { NOTHING_TO_REDACT, type Redactor } from '../core/redact/redactor.ts'
import { type AccessStore, createAccessStore } from './access/store.ts'
import { createFactStore, type FactStore } from './base/fact-store.ts'
import type { Tables } from './base/schema.ts'
import type { RunListener } from './base/transaction.ts'
import { GroupWriter } from './base/writer.ts'
import { numberChanges } from './changes/changes.ts'
import { ChangeListeners, type ChangeStore, createChangeStore } from './changes/store.ts'
import { limitWaits, type MoveTimes, moveTimes } from './clock-changes.ts'
import {
  type ConversationEffects,
  conversationEffects,
  conversationListener,
} from './conversations/run-effects.ts'
import { type ConversationStore, createConversationStore } from './conversations/store.ts'
import { followUpListener } from './follow-ups/follow-ups.ts'
import { createFollowUpStore, type FollowUpStore } from './follow-ups/store.ts'
import { jobListener } from './jobs/job-state.ts'
import { createJobStore, type JobStore } from './jobs/store.ts'
import { type NotificationEffects, notificationEffects } from './notify/run-effects.ts'
import { createNotificationStore, type NotificationStore } from './notify/store.ts'
import { obstacleListener } from './obstacles/obstacles.ts'
import { createObstacleStore, type ObstacleStore } from './obstacles/store.ts'
import { createQueryStore, type QueryEffects, type QueryStore, queryEffects } from './queries/store.ts'
import { findIds } from './references.ts'
import { listCosts } from './retention/past-costs.ts'
import type { DatabaseAccess, Shrink } from './retention/shrink.ts'
import { createKeepStore, type KeepStore } from './retention/store.ts'
import { type AttemptStore, createAttemptStore } from './runs/attempt-store.ts'
import { type CostPeriod, listFailures } from './runs/costs.ts'
import type { RunRecord } from './runs/records.ts'
import { createRunStore, type RunStore } from './runs/store.ts'
import { readStats } from './stats.ts'
import { type TierEffects, tierEffects } from './tiers/run-effects.ts'
import { createTierStore, type TierStore } from './tiers/store.ts'
import { createTrustStore, type TrustStore } from './trust/store.ts'
import { watchListener } from './watches/cycle-deadlines.ts'
import { NO_SEALER, type Sealer } from './watches/sealed.ts'
import { createWatchStore, type WatchStore } from './watches/store.ts'

/** The effects on features that a change of a run may have. */
export type RunEffects = ConversationEffects & TierEffects & NotificationEffects & QueryEffects

export type Store = RunStore &
  AttemptStore &
  ConversationStore &
  JobStore &
  TierStore &
  WatchStore &
  FollowUpStore &
  ObstacleStore &
  NotificationStore &
  ChangeStore &
  AccessStore &
  QueryStore &
  KeepStore &
  TrustStore &
  FactStore & {
    readonly effects: RunEffects
    readStats: () => Promise<Stats>
    /** Sums over the runs that ended in the period, oldest first. */
    listCosts: (period: CostPeriod) => Promise<CostRow[]>
    /** The ids of this kind that begin or end so, newest first. */
    findIds: (kind: Referable, body: string, limit: number) => Promise<string[]>
    /** Runs that ended since then and did not complete, without cancelled ones; newest first. */
    listFailures: (since: Date, limit: number) => Promise<RunRecord[]>
    /** Moves stored times after the clock was set or the daemon was suspended. */
    moveTimes: (move: MoveTimes) => Promise<void>
    /** After a restart of the machine: limits every wait to its intended length. */
    limitWaits: (now: Date) => Promise<void>
    /** Gives the space of what was deleted back to the file system. */
    shrink: Shrink
    close: () => Promise<void>
  }

export interface Connections {
  reader: Kysely<Tables>
  writer: Kysely<Tables>
  /** Sets whether commits of the writer are flushed to disk. */
  setFlush: (flush: boolean) => void
}

export interface StoreOptions {
  /** How long streamed events may wait to be committed together. */
  windowMs: number
  /** The time that is recorded with changes. */
  now: () => Date
  redactor?: Redactor | undefined
  /** Seals the secrets of watches; by default they are stored as they are. */
  sealer?: Sealer | undefined
  /** The machine on which processes are started; null: not recorded. */
  machineId?: MachineId | null | undefined
  createShrink: (access: DatabaseAccess) => Shrink
}

const LISTENERS: readonly RunListener[] = [
  conversationListener,
  jobListener,
  watchListener,
  followUpListener,
  obstacleListener,
]

/** The redactor is applied to everything that others will read: events, notifications, pending questions. */
export function createStore(
  { reader, writer, setFlush }: Connections,
  {
    windowMs,
    now,
    redactor = NOTHING_TO_REDACT,
    sealer = NO_SEALER,
    machineId = null,
    createShrink,
  }: StoreOptions,
): Store {
  const changeListeners = new ChangeListeners()
  const group = new GroupWriter(
    { db: writer, setFlush },
    windowMs,
    { redactor, listeners: LISTENERS },
    {
      number: (tx) => numberChanges(tx, now()),
      tell: (newest) => changeListeners.tell(newest),
    },
  )
  const { write } = group
  return {
    ...createRunStore(reader, write, redactor),
    ...createAttemptStore(reader, group, machineId),
    ...createConversationStore(reader, write),
    ...createJobStore(reader, write),
    ...createTierStore(reader, write),
    ...createWatchStore(reader, write, sealer),
    ...createFollowUpStore(reader, write),
    ...createObstacleStore(reader, write),
    ...createNotificationStore(reader, write),
    ...createAccessStore(reader, group),
    ...createFactStore(reader, group),
    ...createChangeStore(reader, write, changeListeners),
    ...createQueryStore(reader, write),
    ...createKeepStore(reader, group),
    ...createTrustStore(reader, write),
    shrink: createShrink({
      write: (work) => group.enqueue(work),
      alone: (work) => writer.connection().execute(async () => work()),
    }),
    effects: { ...conversationEffects, ...tierEffects, ...notificationEffects, ...queryEffects },
    readStats: () => readStats(reader),
    listCosts: (period) => listCosts(reader, period),
    findIds: (kind, body, limit) => findIds(reader, kind, body, limit),
    listFailures: (since, limit) => listFailures(reader, since, limit),
    moveTimes: (move) => write((tx) => moveTimes(tx, move)),
    limitWaits: (now) => write((tx) => limitWaits(tx, now)),
    close: async () => {
      await group.idle()
      await reader.destroy()
      await writer.destroy()
    },
  }
}
