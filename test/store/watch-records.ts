/** Watches, cycles and follow-ups as the engine would make them. */
import { randomUUID } from 'node:crypto'
import type { WatchEvent } from '../../src/contract/cycle.ts'
import { AttemptId, CycleId, FollowUpId, WatchId } from '../../src/contract/ids.ts'
import type { PlansEnd } from '../../src/store/base/transaction.ts'
import type { FollowUpRecord } from '../../src/store/follow-ups/records.ts'
import type { NewRun } from '../../src/store/runs/records.ts'
import type { Store } from '../../src/store/store.ts'
import type { CycleStart, NewCycle } from '../../src/store/watches/cycles.ts'
import type { CycleEnd } from '../../src/store/watches/end-cycle.ts'
import type { CycleRecord, WatchRecord } from '../../src/store/watches/records.ts'
import { at, newRun, T0 } from './records.ts'

let count = 0

export const newWatch = (change: Partial<WatchRecord> = {}): WatchRecord => ({
  id: WatchId.create(T0),
  name: `watch-${++count}`,
  source: 'api',
  definition: { everyMs: 60_000, workDir: '/srv/project', prompt: 'look around' },
  state: 'active',
  due: null,
  memory: null,
  cycles: 0,
  createdAt: T0,
  updatedAt: T0,
  ...change,
})

/** Due that many seconds after T0. */
export const due = (seconds: number, jitter = 0): NonNullable<WatchRecord['due']> => ({
  at: at(seconds),
  fireAt: at(seconds + jitter),
})

export const newCycle = (watch: Pick<WatchRecord, 'id'>, change: Partial<NewCycle> = {}): NewCycle => ({
  id: CycleId.create(T0),
  watchId: watch.id,
  trigger: 'schedule',
  reason: null,
  events: [],
  dueAt: at(1),
  skip: null,
  ...change,
})

export const event = (fingerprint: string): WatchEvent => ({
  fingerprint,
  title: `${fingerprint} is down`,
  receivedAt: T0.toISOString(),
  payload: { of: fingerprint },
})

export const cycleStart = (cycle: CycleRecord, change: Partial<NewRun> = {}): CycleStart => ({
  id: cycle.id,
  run: newRun({ tier: { number: 1, parentRunId: null }, ...change }),
  prompt: 'look around',
  events: cycle.events,
  renewed: null,
  deadlineAt: at(3600),
})

export const cycleEnd = (change: Partial<CycleEnd> = {}): CycleEnd => ({
  outcome: 'completed',
  message: null,
  status: 'healthy',
  summary: 'all is well',
  notices: [],
  keepSession: false,
  due: null,
  ...change,
})

export const newFollowUp = (change: Partial<FollowUpRecord> = {}): FollowUpRecord => ({
  id: FollowUpId.create(T0),
  state: 'planned',
  prompt: 'verify it',
  messageId: randomUUID(),
  reason: null,
  createdBy: 'agent',
  runId: null,
  rootRunId: null,
  sessionId: null,
  cycleId: null,
  tier: null,
  call: { attemptId: AttemptId.create(T0), toolUseId: randomUUID() },
  cron: null,
  timeZone: null,
  recurring: false,
  relative: true,
  dueAt: at(60),
  expiresAt: null,
  firedCount: 0,
  firedAt: null,
  firedRunId: null,
  firedAttemptId: null,
  firedMessageId: null,
  cancelledBy: null,
  message: null,
  createdAt: T0,
  endedAt: null,
  ...change,
})

export const MISSED: PlansEnd = { state: 'missed', by: null, message: 'too late' }
export const ROOM = { own: 100, all: 1000 }

export async function watching(store: Store, change: Partial<WatchRecord> = {}): Promise<WatchRecord> {
  return store.addWatch(newWatch(change))
}

export async function queued(store: Store, watch: WatchRecord, change: Partial<NewCycle> = {}) {
  return store.addCycle(newCycle(watch, change))
}

/** A cycle with its first run queued. */
export async function begun(store: Store, watch: WatchRecord, change: Partial<NewRun> = {}) {
  const start = cycleStart(await queued(store, watch), change)
  const cycle = await store.startCycle(start, at(2))
  if (!cycle) throw new Error('expected the cycle to begin')
  return { cycle, run: start.run }
}

/** Adds a planned follow-up and returns the stored record. */
export async function plan(store: Store, change: Partial<FollowUpRecord> = {}): Promise<FollowUpRecord> {
  const followUp = await store.addFollowUp(newFollowUp(change), ROOM)
  if (typeof followUp === 'string') throw new Error(`expected room for a follow-up: ${followUp}`)
  return followUp
}
