/** Watches and their cycles, as the outside asks for them. When something happens is the timetable's to see to. */
import { createHash } from 'node:crypto'
import { RepriseError } from '../../contract/errors.ts'
import { CycleId, WatchId } from '../../contract/ids.ts'
import type { CreateWatch, Cycle, Triggered, UpdateWatch, Watch, WatchEvent } from '../../contract/watch.ts'
import { WatchDefinition } from '../../contract/watch.ts'
import { admitEvents } from '../../core/watch/admit-event.ts'
import { keepPayload, readEvents } from '../../core/watch/alerts.ts'
import { checkWatch } from '../../core/watch/check.ts'
import type { CycleRecord, WatchRecord } from '../../store/watches/records.ts'
import type { EventDecision as StoredDecision } from '../../store/watches/watch-events.ts'
import { persist } from '../base/persist.ts'
import { requestKey } from '../base/request-key.ts'
import type { EngineParts } from '../parts.ts'
import { checkWorkDir } from '../path/check-request.ts'
import { readChain } from '../tiers/chain.ts'
import { highestTier } from '../tiers/tier-run.ts'
import type { Timetable } from '../timetable/timetable.ts'
import type { WatchEngine } from './api.ts'
import { describeCycles, describeFollowUp, describeWatch } from './describe.ts'
import { endCycle } from './end.ts'
import { scheduleOf } from './schedule-of.ts'

export interface WatchDeps {
  timetable: Timetable
  describeRun: Parameters<typeof readChain>[2]
}

const EVENTS_PER_HOUR = 12
const DEDUPE_MS = 3_600_000
const MAX_EVENTS_PER_CYCLE = 100
const MAX_QUEUED = 20
const MAX_FOLLOW_UPS = 1000

export function createWatches(
  parts: EngineParts,
  { timetable, describeRun }: WatchDeps,
): Omit<WatchEngine, 'createFollowUp' | 'listFollowUps' | 'getFollowUp' | 'cancelFollowUp'> {
  const { store, clock } = parts

  const require = async (idOrName: string): Promise<WatchRecord> => {
    const watch = await store.findWatch(idOrName)
    if (watch) return watch
    throw new RepriseError('not-found', `there is no watch ${JSON.stringify(idOrName.slice(0, 80))}`, {
      hint: '`reprise watch` lists them.',
    })
  }
  const requireCycle = async (id: CycleId): Promise<CycleRecord> => {
    const cycle = await store.getCycle(id)
    if (cycle) return cycle
    throw new RepriseError('not-found', `there is no cycle ${id}`, {
      hint: '`reprise watch cycles NAME` lists those of a watch.',
    })
  }
  const describe = async (watch: WatchRecord): Promise<Watch> => {
    const { items } = await store.listCycles({ watchId: watch.id, limit: 1 })
    const [lastCycle = null] = await describeCycles(parts, () => watch.name, items)
    const open = (await store.listUnfinishedCycles(watch.id)).find((cycle) => cycle.state === 'open')
    return describeWatch(watch, { lastCycle, openCycleId: open?.id ?? null })
  }
  const describeOne = async (cycle: CycleRecord): Promise<Cycle> => {
    const watch = await store.getWatch(cycle.watchId)
    const [described] = await describeCycles(parts, () => watch?.name ?? '', [cycle])
    if (!described) throw new Error(`cycle ${cycle.id} cannot be described`)
    return described
  }
  const check = async (definition: WatchDefinition) => {
    const around = {
      highestTier: highestTier(parts),
      notifyTargets: parts.notifications.targets,
    }
    const [first] = checkWatch(definition, around)
    if (first) {
      throw new RepriseError(
        'bad-request',
        `${first.key}: ${first.problem}`,
        first.hint ? { hint: first.hint } : {},
      )
    }
    if (definition.agent !== undefined) await parts.agents.runtime(definition.agent)
    await checkWorkDir(definition.workDir)
  }
  const stop = async (cycle: CycleRecord, message: string): Promise<void> => {
    const watch = cycle.state === 'queued' ? await store.getWatch(cycle.watchId) : null
    if (watch && (await endCycle(parts, watch, cycle, { outcome: 'cancelled', message }))) return
    // It is open, or has begun in this moment.
    await persist(parts, () => store.concludeCycle(cycle.id, 'cancelled', message, clock.now()))
    timetable.noteCycle(cycle.id)
  }

  return {
    createWatch: async ({ name, paused = false, ...request }) => {
      const definition = definitionOf(request)
      await check(definition)
      const now = clock.now()
      const schedule = scheduleOf({ definition })
      const watch = await store.addWatch({
        id: WatchId.create(now),
        name,
        source: 'api',
        definition,
        state: paused ? 'paused' : 'active',
        due: paused || !schedule ? null : timetable.firstDue({ definition }, schedule),
        memory: null,
        cycles: 0,
        createdAt: now,
        updatedAt: now,
      })
      timetable.wake()
      return describe(watch)
    },

    listWatches: async () => Promise.all((await store.listWatches()).map(describe)),
    getWatch: async (idOrName) => describe(await require(idOrName)),

    updateWatch: async (idOrName, { paused, ...change }) => {
      const watch = await require(idOrName)
      const changes = Object.values(change).some((value) => value !== undefined)
      if (changes && watch.source === 'config') {
        throw new RepriseError('conflict', `watch ${watch.name} is defined in the configuration`, {
          hint: 'Change it there and restart; it can be paused and resumed here.',
        })
      }
      const definition = changes ? merged(watch.definition, change) : watch.definition
      if (changes) await check(definition)
      const state = paused === undefined ? watch.state : paused ? 'paused' : 'active'
      const schedule = scheduleOf({ definition })
      const rescheduled =
        state !== watch.state || JSON.stringify(schedule) !== JSON.stringify(scheduleOf(watch))
      const due = state === 'paused' || !schedule ? null : timetable.firstDue({ definition }, schedule)
      const updated = await store.updateWatch(
        watch.id,
        // When it is due is left alone where it can be: it may have fired meanwhile, and must not do so again.
        { ...(changes ? { definition } : {}), state, ...(rescheduled ? { due } : {}) },
        clock.now(),
      )
      timetable.wake()
      return describe(updated ?? watch)
    },

    removeWatch: async (idOrName) => {
      const watch = await require(idOrName)
      if (watch.source === 'config') {
        throw new RepriseError('conflict', `watch ${watch.name} is defined in the configuration`, {
          hint: 'Take it out there and restart, or pause it.',
        })
      }
      await store.removeWatch(watch.id, clock.now())
      for (const cycle of await store.listUnfinishedCycles(watch.id))
        await stop(cycle, 'the watch was removed')
    },

    triggerWatch: async (idOrName, { reason, payload }, idempotencyKey) => {
      const watch = await require(idOrName)
      const key = requestKey(idempotencyKey, { trigger: watch.id, reason, payload })
      const made = key && (await store.findMade(key))
      if (made !== null) return known(made as CycleId)
      const before = await store.listUnfinishedCycles(watch.id)
      if (before.length > MAX_QUEUED) {
        throw new RepriseError('conflict', `${before.length} cycles of ${watch.name} are waiting already`, {
          hint: `\`reprise watch show ${watch.name}\` shows what is going on.`,
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
      // Another one with the same key was quicker.
      if (cycle.id !== id) return known(cycle.id)
      timetable.wake()
      const waits = before.length > 0
      return {
        result: waits ? 'queued' : 'started',
        cycleId: cycle.id,
        message: waits ? 'it begins when the cycle before has ended' : 'it begins now',
      }
    },

    receiveEvents: async (idOrName, payload): Promise<Triggered> => {
      const watch = await require(idOrName)
      if (watch.state === 'paused') {
        throw new RepriseError('conflict', `watch ${watch.name} is paused`, {
          hint: `\`reprise watch resume ${watch.name}\` lets it take events again.`,
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
          return { ...toStore(decided, watch, facts.queued, now), decided, cycleId }
        },
        now,
      )
      const { decided } = decision
      if (decided.kind === 'limited') {
        throw new RepriseError('rate-limited', `watch ${watch.name} takes no more events for now`, {
          hint: `At most ${eventsPerHour} cycles an hour are begun by events.`,
          details: { retryAfterMs: decided.retryAfterMs },
        })
      }
      if (cycle) timetable.wake()
      if (decided.kind === 'known') {
        const over = read.firing.length === 0
        return {
          result: over ? 'resolved' : 'known',
          cycleId: decision.cycleId,
          message: over ? 'nothing is wrong any more: no cycle is begun' : 'it is known already',
        }
      }
      const result = ({ start: 'started', queue: 'queued', merge: 'merged' } as const)[decided.kind]
      return { result, cycleId: cycle?.id ?? null, message: SAID[result] }
    },

    readHookSecret: async (idOrName) => (await store.findWatch(idOrName))?.definition.hookSecret ?? null,

    listCycles: async (idOrName, query) => {
      const watch = await require(idOrName)
      const { items, nextCursor } = await store.listCycles({ ...query, watchId: watch.id })
      return { items: await describeCycles(parts, () => watch.name, items), nextCursor }
    },

    getCycle: async (id) => {
      const cycle = await requireCycle(id)
      const { rootRunId } = cycle
      const followUps = rootRunId
        ? (await store.listFollowUps({ rootRunId, limit: MAX_FOLLOW_UPS })).items.toReversed()
        : []
      return {
        ...(await describeOne(cycle)),
        prompt: cycle.prompt ?? '',
        events: cycle.events,
        chain: rootRunId ? await readChain(parts, rootRunId, describeRun) : null,
        followUps: followUps.map(describeFollowUp),
      }
    },

    cancelCycle: async (id) => {
      const cycle = await requireCycle(id)
      if (cycle.state === 'ended' || cycle.state === 'skipped') {
        throw new RepriseError('conflict', `cycle ${id} has ended already`)
      }
      await stop(cycle, 'cancelled')
      return describeOne(await requireCycle(id))
    },
  }
}

const SAID = {
  started: 'a cycle begins',
  queued: 'a cycle begins when the one before has ended',
  merged: 'it was added to the cycle that is waiting',
} as const

const known = (cycleId: CycleId): Triggered => ({
  result: 'known',
  cycleId,
  message: 'it was asked for before, with the same Idempotency-Key',
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

type Wish = Omit<CreateWatch, 'name' | 'paused'>

/** `every` has been turned into milliseconds where the request came in. */
function definitionOf({ every, ...definition }: Wish): WatchDefinition {
  const everyMs = typeof every === 'number' ? every : definition.everyMs
  return WatchDefinition.parse({ ...definition, ...(everyMs === undefined ? {} : { everyMs }) })
}

/** A new schedule takes the place of the old one, whatever its kind. */
function merged(before: WatchDefinition, { every, ...change }: Omit<UpdateWatch, 'paused'>): WatchDefinition {
  const everyMs = typeof every === 'number' ? every : change.everyMs
  const { everyMs: _, cron: __, timeZone: ___, ...rest } = before
  const reschedules = everyMs !== undefined || change.cron !== undefined
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  return WatchDefinition.parse({
    ...(reschedules ? rest : before),
    ...given,
    ...(everyMs === undefined ? {} : { everyMs }),
  })
}
