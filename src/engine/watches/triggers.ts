/**
 * Fires watches outside their schedule: on a person's request, or because of an event from another system. What comes while
 * a cycle is open is queued, and its agent is told (event-messages.ts).
 */
import { createHash } from 'node:crypto'
import type { WatchEvent } from '../../contract/cycle.ts'
import { RepriseError } from '../../contract/errors.ts'
import { CycleId, type RunId } from '../../contract/ids.ts'
import type { Triggered } from '../../contract/watch.ts'
import type { Clock } from '../../core/clock.ts'
import { admitEvents } from '../../core/watch/admit-event.ts'
import { keepPayload, readEvents } from '../../core/watch/alerts.ts'
import type { Store } from '../../store/store.ts'
import type { CycleRecord, WatchRecord } from '../../store/watches/records.ts'
import type { EventDecision as StoredDecision } from '../../store/watches/watch-events.ts'
import { requestKey } from '../base/request-key.ts'
import type { WatchEngine } from './api.ts'
import { requireWatch } from './require.ts'

export interface TriggerDeps {
  store: Pick<
    Store,
    'findWatch' | 'findMade' | 'listUnfinishedCycles' | 'listChain' | 'addCycle' | 'receiveEvents'
  >
  clock: Clock
}

const EVENTS_PER_HOUR = 12
const DEDUPE_MS = 3_600_000
const MAX_EVENTS_PER_CYCLE = 100
const MAX_QUEUED = 20

export interface TriggerHooks {
  /** Makes the timetable look at what is due. */
  wake: () => void
  /** Makes the agent of the run, if it is at work, get what waits for it. */
  nudge: (id: RunId) => void
}

export function createTriggers(
  { store, clock }: TriggerDeps,
  { wake, nudge }: TriggerHooks,
): Pick<WatchEngine, 'triggerWatch' | 'receiveEvents'> {
  /** A run that starts later asks for them by itself. */
  const nudgeRunsOf = async ({ rootRunId }: CycleRecord) => {
    for (const { id, state } of rootRunId ? await store.listChain(rootRunId) : [])
      if (state.at !== 'settled') nudge(id)
  }
  return {
    triggerWatch: async (idOrName, { reason, payload }, idempotencyKey) => {
      const watch = await requireWatch(store, idOrName)
      const key = requestKey(idempotencyKey, { trigger: watch.id, reason, payload })
      const made = key && (await store.findMade(key))
      if (made !== null) return known(made as CycleId)
      const before = await store.listUnfinishedCycles(watch.id)
      if (before.length > MAX_QUEUED) {
        throw new RepriseError('conflict', `${before.length} cycles of ${watch.name} are already waiting`, {
          hint: `\`reprise watch show ${watch.name}\` shows its cycles.`,
        })
      }
      const now = clock.now()
      const id = CycleId.create(now)
      const kept = payload === undefined ? null : keepPayload(payload)
      if (kept?.ok === false) throw new RepriseError('bad-request', `payload: ${kept.problem}`)
      const sent = { fingerprint: id, title: 'sent with the trigger', receivedAt: now.toISOString() }
      const events: WatchEvent[] = kept ? [{ ...sent, payload: kept.payload }] : []
      const cycle = await store.addCycle(
        {
          id,
          watchId: watch.id,
          trigger: 'person',
          reason: reason ?? null,
          events,
          dueAt: now,
          skip: null,
        },
        key,
      )
      // A concurrent request with the same key created the cycle.
      if (cycle.id !== id) return known(cycle.id)
      wake()
      const open = before.find(({ state }) => state === 'open')
      if (open && events.length > 0) {
        await nudgeRunsOf(open)
        return { result: 'queued', cycleId: cycle.id, message: TOLD }
      }
      const result = before.length > 0 ? 'queued' : 'started'
      return { result, cycleId: cycle.id, message: SAID[result] }
    },

    receiveEvents: async (idOrName, payload): Promise<Triggered> => {
      const watch = await requireWatch(store, idOrName)
      if (watch.state === 'paused') {
        throw new RepriseError('conflict', `watch ${watch.name} is paused`, {
          hint: `\`reprise watch resume ${watch.name}\` makes it accept events again.`,
        })
      }
      const now = clock.now()
      const read = readEvents(payload, now, sha256)
      if (!read.ok) throw new RepriseError('bad-request', read.problem)
      const { eventsPerHour = EVENTS_PER_HOUR, dedupeMs = DEDUPE_MS } = watch.definition
      const { decision, cycle } = await store.receiveEvents(
        watch.id,
        read,
        (facts) => {
          const decided = admitEvents({
            firing: read.firing,
            known: facts.known,
            openCycle: facts.open !== null,
            queuedCycle: facts.queued && { eventCount: facts.queued.events.length },
            recentStarts: facts.recentStarts,
            limits: { eventsPerHour, dedupeMs, maxEventsPerCycle: MAX_EVENTS_PER_CYCLE },
            now,
          })
          const cycleId = read.firing.flatMap((e) => facts.known.get(e.fingerprint)?.cycleId ?? [])[0] ?? null
          return { ...toStore(decided, watch, facts.queued, now), decided, cycleId, open: facts.open }
        },
        now,
      )
      const { decided, open } = decision
      if (decided.kind === 'limited') {
        throw new RepriseError('rate-limited', `watch ${watch.name} accepts no more events at present`, {
          hint: `Events start at most ${eventsPerHour} cycles per hour (eventsPerHour).`,
          details: { retryAfterMs: decided.retryAfterMs },
        })
      }
      if (cycle) wake()
      if (decided.kind === 'known') {
        const over = read.firing.length === 0
        return {
          result: over ? 'resolved' : 'known',
          cycleId: decision.cycleId,
          message: over
            ? 'the problem is resolved; no cycle starts'
            : 'the event is already known; no cycle starts',
        }
      }
      const result = ({ start: 'started', queue: 'queued', merge: 'merged' } as const)[decided.kind]
      if (open) await nudgeRunsOf(open)
      return { result, cycleId: cycle?.id ?? null, message: open ? TOLD : SAID[result] }
    },
  }
}

const SAID = {
  started: 'a cycle starts now',
  queued: 'a cycle starts when the previous one has ended',
  merged: 'the event was added to the cycle that is waiting',
} as const

const TOLD =
  'a cycle is open, and its agent is told; if the cycle ends before the agent has read it, another one starts'

const known = (cycleId: CycleId): Triggered => ({
  result: 'known',
  cycleId,
  message: 'this was already requested with the same Idempotency-Key',
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function toStore(
  decided: ReturnType<typeof admitEvents>,
  watch: WatchRecord,
  queued: CycleRecord | null,
  now: Date,
): StoredDecision {
  if (decided.kind === 'known' || decided.kind === 'limited') return { kind: 'nothing' }
  if (decided.kind === 'merge' && queued) return { kind: 'merge', into: queued, events: decided.events }
  const { events } = decided
  const reason = events[0]?.title ?? null
  const id = CycleId.create(now)
  return {
    kind: 'add',
    cycle: { id, watchId: watch.id, trigger: 'event', reason, events, dueAt: now, skip: null },
  }
}
