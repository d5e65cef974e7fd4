/** What every store must do for watches, their cycles and follow-ups. Part of the conformance suite. */
import { describe, expect, it } from 'vitest'
import { AttemptId, CycleId, FollowUpId, RunId, SessionId, type WatchId } from '../../src/contract/ids.ts'
import type { FollowUpRecord } from '../../src/store/follow-ups/records.ts'
import type { Store } from '../../src/store/store.ts'
import type { WatchRecord } from '../../src/store/watches/records.ts'
import type { EventDecision, EventFacts } from '../../src/store/watches/watch-events.ts'
import { planned as notice } from './outbox.ts'
import {
  admitted,
  at,
  COMPLETED,
  ending,
  newAttempt,
  newRun,
  newSession,
  note,
  running,
  startAttempt,
  T0,
} from './records.ts'
import {
  begun,
  cycleEnd,
  cycleStart,
  due,
  event,
  MISSED,
  newCycle,
  newFollowUp,
  newWatch,
  plan,
  queued,
  ROOM,
  watching,
} from './watch-records.ts'

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i))
const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id)
const settle = (store: Store, id: RunId) => store.settleQueued(id, COMPLETED, at(9))

export function describeWatching(open: () => Promise<Store>): void {
  describeWatches(open)
  describeCycles(open)
  describeMemory(open)
  describeEvents(open)
  describeFollowUps(open)
  describeFiring(open)
}

function describeWatches(open: () => Promise<Store>): void {
  describe('a watch', () => {
    it('is returned as given, by id and by name', async () => {
      const store = await open()
      const given = newWatch({
        name: 'services',
        due: due(60, 5),
        memory: { sessionId: SessionId.create(T0), since: at(-5), cycles: 3 },
        definition: { cron: '0 7 * * *', timeZone: 'UTC', workDir: '/', prompt: 'NUL \u0000 and 😀' },
      })
      await store.addWatch(given)
      for (const key of [given.id, 'services']) expect(await store.findWatch(key)).toEqual(given)
      expect(await store.getWatch(given.id)).toEqual(given)
      expect(await store.listWatches()).toEqual([given])
      expect(await store.findWatch('nothing')).toBeNull()
    })

    it('has a unique name, also when many are added at once, until it is removed', async () => {
      const store = await open()
      const made = await Promise.allSettled(times(5, () => watching(store, { name: 'services' })))
      const [first] = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
      const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      expect(refused).toHaveLength(4)
      expect(refused[0]).toMatchObject({ code: 'conflict', details: { watchId: first?.id } })
      expect(await store.removeWatch(first?.id as WatchId, at(1))).toBe(true)
      expect(await store.removeWatch(first?.id as WatchId, at(2))).toBe(false)
      const second = await watching(store, { name: 'services' })
      expect(ids(await store.listWatches())).toEqual([second.id])
      expect(await store.findWatch('services')).toEqual(second)
    })

    it('that is removed is neither found nor due nor changed, but still known by its id', async () => {
      const store = await open()
      const watch = await watching(store, { due: due(1) })
      await store.removeWatch(watch.id, at(1))
      expect(await store.findWatch(watch.id)).toBeNull()
      expect(await store.findWatch(watch.name)).toBeNull()
      expect(await store.listDueWatches(at(99), 9)).toEqual([])
      expect(await store.nextWatchAt()).toBeNull()
      expect(await store.updateWatch(watch.id, { state: 'paused' }, at(2))).toBeNull()
      expect(await store.getWatch(watch.id)).toMatchObject({ name: watch.name, state: 'active', due: null })
    })

    it('that is removed loses its queued cycles, keeps the open one, and gets no new ones', async () => {
      const store = await open()
      const watch = await watching(store)
      const { cycle } = await begun(store, watch)
      const waits = await queued(store, watch)
      await store.removeWatch(watch.id, at(5))
      expect(await store.getCycle(waits.id)).toMatchObject({
        state: 'ended',
        outcome: 'cancelled',
        message: 'the watch was removed',
        endedAt: at(5),
      })
      expect(await store.getCycle(cycle.id)).toEqual(cycle)
      await expect(queued(store, watch)).rejects.toMatchObject({ code: 'not-found' })
      expect(await store.listUnfinishedCycles(watch.id)).toEqual([cycle])
    })

    it('changes only in the given fields', async () => {
      const store = await open()
      const memory = { sessionId: SessionId.create(T0), since: T0, cycles: 2 }
      const watch = await watching(store, { due: due(60), memory })
      expect(await store.updateWatch(watch.id, { state: 'paused' }, at(5))).toEqual({
        ...watch,
        state: 'paused',
        updatedAt: at(5),
      })
      expect(await store.updateWatch(watch.id, { due: null, memory: null }, at(6))).toEqual({
        ...watch,
        state: 'paused',
        due: null,
        memory: null,
        updatedAt: at(6),
      })
    })

    it('is due also when its jitter has passed, the longest overdue first', async () => {
      const store = await open()
      const late = await watching(store, { due: due(20, 15) })
      const early = await watching(store, { due: due(30) })
      await watching(store, { due: null })
      expect(await store.nextWatchAt()).toEqual(at(30))
      expect(ids(await store.listDueWatches(at(29), 9))).toEqual([])
      expect(ids(await store.listDueWatches(at(30), 9))).toEqual([early.id])
      expect(ids(await store.listDueWatches(at(35), 9))).toEqual([early.id, late.id])
      expect(ids(await store.listDueWatches(at(35), 1))).toEqual([early.id])
    })

    it('fires once for one due time, however many try at once', async () => {
      const store = await open()
      const watch = await watching(store, { due: due(60) })
      const fired = await Promise.all(times(10, () => store.fireWatch(watch, newCycle(watch), due(120, 7))))
      const cycles = fired.filter((cycle) => cycle !== null)
      expect(cycles).toHaveLength(1)
      expect(cycles[0]).toMatchObject({ state: 'queued', trigger: 'schedule', number: 1, dueAt: at(1) })
      expect(await store.listUnfinishedCycles(watch.id)).toEqual(cycles)
      expect(await store.getWatch(watch.id)).toMatchObject({ due: due(120, 7), cycles: 1 })
    })

    it('that was paused, removed or rescheduled meanwhile does not fire', async () => {
      const store = await open()
      const [paused, removed, moved] = await Promise.all(times(3, () => watching(store, { due: due(60) })))
      await store.updateWatch(paused!.id, { state: 'paused' }, at(1))
      await store.removeWatch(removed!.id, at(1))
      await store.updateWatch(moved!.id, { due: due(90) }, at(1))
      for (const watch of [paused, removed, moved]) {
        expect(await store.fireWatch(watch!, newCycle(watch!), due(120))).toBeNull()
      }
      expect(await store.listUnfinishedCycles()).toEqual([])
    })
  })
}

function describeCycles(open: () => Promise<Store>): void {
  const SKIP = { skip: 'the previous cycle had not ended' }

  describe('a cycle', () => {
    it('is skipped while another is open or queued, if requested, with the reason', async () => {
      const store = await open()
      const watch = await watching(store)
      const first = await queued(store, watch, SKIP)
      expect(await queued(store, watch, SKIP)).toMatchObject({
        state: 'skipped',
        number: 2,
        message: SKIP.skip,
        endedAt: at(1),
      })
      await store.startCycle(cycleStart(first), at(2))
      expect(await queued(store, watch, SKIP)).toMatchObject({ state: 'skipped', number: 3 })
      expect(await store.getWatch(watch.id)).toMatchObject({ cycles: 3 })
      expect(ids(await store.listUnfinishedCycles(watch.id))).toEqual([first.id])
      expect(await queued(store, await watching(store), SKIP)).toMatchObject({ state: 'queued' })
    })

    it('is queued behind the open one, but only one for the schedule, however late it is', async () => {
      const store = await open()
      const watch = await watching(store)
      await begun(store, watch)
      const states = []
      for (const trigger of ['schedule', 'schedule', 'catch-up', 'person', 'person'] as const) {
        states.push((await queued(store, watch, { trigger })).state)
      }
      expect(states).toEqual(['queued', 'skipped', 'skipped', 'queued', 'queued'])
      const late = await watching(store)
      expect(await queued(store, late, { trigger: 'catch-up' })).toMatchObject({ state: 'queued' })
      expect(await queued(store, late, { trigger: 'schedule' })).toMatchObject({
        state: 'skipped',
        message: 'another cycle is queued already',
      })
    })

    it('begins once, with its run', async () => {
      const store = await open()
      const cycle = await queued(store, await watching(store))
      const starts = times(5, () => cycleStart(cycle))
      const begun = await Promise.all(starts.map((start) => store.startCycle(start, at(2))))
      const won = begun.findIndex((one) => one !== null)
      expect(begun.filter((one) => one !== null)).toHaveLength(1)
      expect(begun[won]).toEqual({
        ...cycle,
        state: 'open',
        prompt: 'look around',
        rootRunId: starts[won]?.run.id,
        startedAt: at(2),
        deadlineAt: at(3600),
      })
      const { items } = await store.listRuns({ limit: 9 })
      expect(items).toMatchObject([{ id: starts[won]?.run.id, links: { cycleId: cycle.id, tier: 1 } }])
    })

    it('begins only when no other of its watch is open', async () => {
      const store = await open()
      const watch = await watching(store)
      const two = [await queued(store, watch), await queued(store, watch, { trigger: 'person' })]
      const started = await Promise.all(two.map((cycle) => store.startCycle(cycleStart(cycle), at(2))))
      expect(started.map((cycle) => cycle?.state ?? null)).toEqual(['open', null])
      expect((await store.listRuns({ limit: 9 })).items).toHaveLength(1)
      const [first, second] = two
      await settle(store, started[0]!.rootRunId!)
      await store.endCycle(first!.id, cycleEnd(), at(9))
      expect(await store.startCycle(cycleStart(second!), at(10))).toMatchObject({ state: 'open' })
      const other = await queued(store, await watching(store))
      expect(await store.startCycle(cycleStart(other), at(10))).toMatchObject({ state: 'open' })
    })

    it('whose run cannot be admitted does not begin', async () => {
      const store = await open()
      const cycle = await queued(store, await watching(store))
      const { id } = await admitted(store)
      await expect(store.startCycle(cycleStart(cycle, { id }), at(2))).rejects.toThrow()
      expect(await store.getCycle(cycle.id)).toEqual(cycle)
      expect(await store.getRun(id)).toMatchObject({ links: { cycleId: null } })
    })

    it('that got another event since its prompt was written does not begin with that prompt', async () => {
      const store = await open()
      const watch = await watching(store)
      const cycle = await queued(store, watch, { trigger: 'event', events: [event('a')] })
      const received = { firing: [event('b')], resolved: [] }
      await store.receiveEvents(watch.id, received, (facts) => merge(facts, 'b'), at(2))
      expect(await store.startCycle(cycleStart(cycle), at(3))).toBeNull()
      const now = (await store.getCycle(cycle.id))!
      expect(now).toMatchObject({ state: 'queued', events: [event('a'), event('b')] })
      expect(await store.startCycle(cycleStart(now), at(3))).toMatchObject({ state: 'open' })
    })

    it('that is concluded stays open, keeps its first outcome, and misses the follow-ups of its chain', async () => {
      const store = await open()
      const { cycle, run } = await begun(store, await watching(store))
      const mine = await plan(store, { rootRunId: run.id })
      const given = await plan(store, { rootRunId: run.id })
      await store.fireFollowUp(given, { attempt: { id: AttemptId.create(T0), runId: run.id } }, null, at(3))
      const others = await plan(store, { rootRunId: RunId.create(T0) })
      expect(await store.concludeCycle(cycle.id, 'timed-out', 'too long', at(5))).toMatchObject({
        state: 'open',
        outcome: 'timed-out',
      })
      expect(await store.concludeCycle(cycle.id, 'cancelled', 'enough', at(6))).toBeNull()
      expect(await store.getFollowUp(mine.id)).toEqual({
        ...mine,
        state: 'missed',
        message: 'too long',
        endedAt: at(5),
      })
      expect(await store.getFollowUp(given.id)).toMatchObject({ state: 'fired' })
      expect(await store.getFollowUp(others.id)).toEqual(others)
      await settle(store, run.id)
      expect(await store.endCycle(cycle.id, cycleEnd({ message: 'done' }), at(9))).toBe(true)
      expect(await store.getCycle(cycle.id)).toMatchObject({
        state: 'ended',
        outcome: 'timed-out',
        message: 'too long',
        status: 'healthy',
        endedAt: at(9),
      })
      expect(await store.concludeCycle(cycle.id, 'cancelled', 'enough', at(10))).toBeNull()
    })

    it('that is queued cannot be concluded, but ended', async () => {
      const store = await open()
      const cycle = await queued(store, await watching(store))
      expect(await store.concludeCycle(cycle.id, 'cancelled', 'enough', at(1))).toBeNull()
      const end = cycleEnd({ outcome: 'cancelled', message: 'enough', status: null, summary: null })
      expect(await store.endCycle(cycle.id, end, at(2))).toBe(true)
      expect(await store.getCycle(cycle.id)).toMatchObject({ state: 'ended', outcome: 'cancelled' })
      expect(await store.startCycle(cycleStart(cycle), at(3))).toBeNull()
    })

    it('ends once, with one notification', async () => {
      const store = await open()
      const { cycle, run } = await begun(store, await watching(store))
      await settle(store, run.id)
      const told = notice()
      const ends = await Promise.all(
        times(5, () => store.endCycle(cycle.id, cycleEnd({ notices: [told] }), at(9))),
      )
      expect(ends.filter(Boolean)).toHaveLength(1)
      expect(await store.getCycle(cycle.id)).toMatchObject({ summary: 'all is well', endedAt: at(9) })
      expect(await store.listNotifications(told.subject)).toHaveLength(1)
      expect(await store.listUnfinishedCycles()).toEqual([])
    })

    it('does not end while one of its runs is open, a follow-up is planned, or an approval is pending', async () => {
      const store = await open()
      const watch = await watching(store)
      const { cycle, run } = await begun(store, watch)
      const session = newSession()
      const attempt = (await startAttempt(store, {
        attempt: newAttempt(run, session),
        newSession: session,
        events: () => [note('x')],
      }))!
      const ends = () => store.endCycle(cycle.id, cycleEnd(), at(20))
      expect(await ends()).toBe(false)
      const followUp = await plan(store, { rootRunId: run.id })
      const escalation = {
        runId: run.id,
        tier: 1,
        decision: 'ask',
        reason: 'approval-needed',
        message: 'tier 2 needs approval',
        toTier: 2,
        nextRunId: null,
        recommendation: { source: 'none', escalate: null, signal: null, problem: null },
        decidedBy: 'rules',
        decidedAt: at(9),
        expiresAt: at(900),
      } as const
      await store.endAttempt(
        ending(attempt, { effects: [store.effects.escalate({ escalation, next: null, notices: [] })] }),
      )
      expect(await ends()).toBe(false)
      await store.endFollowUp(followUp.id, MISSED, at(10))
      expect(await ends()).toBe(false)
      const no = {
        decision: 'stop',
        reason: 'refused',
        message: 'no',
        decidedBy: 'person',
        at: at(11),
      } as const
      await store.answerEscalation(run.id, no, { next: null, notices: [] })
      expect(await ends()).toBe(true)
    })

    it('does not lose time while it waits for a person', async () => {
      const store = await open()
      const { cycle, run } = await begun(store, await watching(store))
      const session = newSession()
      const attempt = (await startAttempt(store, {
        attempt: newAttempt(run, session),
        newSession: session,
        events: () => [],
      }))!
      const next = newRun({ tier: { number: 2, parentRunId: run.id }, cycleId: cycle.id })
      const escalation = {
        runId: run.id,
        tier: 1,
        decision: 'ask',
        reason: 'approval-needed',
        message: 'tier 2 needs approval',
        toTier: 2,
        nextRunId: null,
        recommendation: { source: 'none', escalate: null, signal: null, problem: null },
        decidedBy: 'rules',
        decidedAt: at(9),
        expiresAt: at(90_000),
      } as const
      await store.endAttempt(
        ending(attempt, { effects: [store.effects.escalate({ escalation, next: null, notices: [] })] }),
      )
      const yes = {
        decision: 'escalate',
        reason: 'approved',
        message: 'ok',
        decidedBy: 'person',
        at: at(5009),
      } as const
      await store.answerEscalation(run.id, yes, { next, notices: [] })
      expect(await store.getCycle(cycle.id)).toMatchObject({ deadlineAt: at(3600 + 5000) })
    })

    it('moves its deadline with the clock while it is open', async () => {
      const store = await open()
      const { cycle } = await begun(store, await watching(store))
      const { cycle: over, run } = await begun(store, await watching(store))
      await settle(store, run.id)
      await store.endCycle(over.id, cycleEnd(), at(9))
      await store.moveTimes({ jumpMs: -90_000, missedMs: 30_000, watches: [], clock: '{}' })
      expect(await store.getCycle(cycle.id)).toMatchObject({ deadlineAt: at(3540) })
      expect(await store.getCycle(over.id)).toMatchObject({ deadlineAt: at(3600) })
    })

    it('keeps its remaining time while its run is paused, whatever happens to the clock meanwhile', async () => {
      const store = await open()
      const { cycle, run } = await begun(store, await watching(store))
      const pause = { behind: { account: 'a', model: null }, why: 'paused: away', notices: [] }
      await store.pauseRun(run.id, pause, at(10))
      await store.moveTimes({ jumpMs: -86_400_000, missedMs: 30_000, watches: [], clock: '{}' })
      await store.hastenRun(run.id, at(20 - 86_400))
      expect(await store.getCycle(cycle.id)).toMatchObject({ deadlineAt: at(3600 - 10 + 20 - 86_400) })
    })
  })

  describe('cycles', () => {
    it('are listed newest first, in pages, per watch', async () => {
      const store = await open()
      const watch = await watching(store)
      await queued(store, await watching(store))
      const made = []
      for (let i = 0; i < 7; i++) made.push(await queued(store, watch, { trigger: 'person' }))
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page = await store.listCycles({ watchId: watch.id, limit: 3, cursor })
        expect(page.items.length).toBeLessThanOrEqual(3)
        seen.push(...ids(page.items))
        cursor = page.nextCursor ?? undefined
      } while (cursor)
      expect(seen).toEqual(ids(made).toReversed())
      await expect(store.listCycles({ watchId: watch.id, limit: 3, cursor: 'x' })).rejects.toMatchObject({
        code: 'bad-request',
      })
    })

    it('sum up the work and cost of their runs', async () => {
      const store = await open()
      const { cycle, run } = await begun(store, await watching(store))
      const session = newSession()
      const attempt = await startAttempt(store, {
        attempt: newAttempt(run, session),
        newSession: session,
        events: () => [],
      })
      await store.endAttempt(ending(attempt!))
      await admitted(store, { cycleId: cycle.id, tier: { number: 2, parentRunId: run.id } })
      await admitted(store)
      const idle = await queued(store, await watching(store))
      const totals = await store.readCycleTotals([cycle.id, idle.id])
      expect(totals.get(idle.id)).toBeUndefined()
      expect(totals.get(cycle.id)).toEqual({
        runs: 2,
        open: 1,
        tier: 2,
        usage: { inputTokens: 10, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0 },
        costUsd: 0.5,
        estimated: false,
      })
      expect(await store.readCycleTotals([])).toEqual(new Map())
    })
  })
}

function describeMemory(open: () => Promise<Store>): void {
  /** A cycle of the watch that worked in this session and has ended. */
  async function through(
    store: Store,
    watch: WatchRecord,
    sessionId: SessionId | null,
    seconds: number,
    keep = true,
  ) {
    const { cycle, run } = await begun(store, watch, { sessionId })
    await settle(store, run.id)
    await store.endCycle(cycle.id, cycleEnd({ keepSession: keep }), at(seconds))
    return (await store.getWatch(watch.id))?.memory
  }

  describe('a persistent memory', () => {
    it('is the session of the last cycle, with its start and number of cycles', async () => {
      const store = await open()
      const watch = await watching(store)
      const [a, b] = [SessionId.create(T0), SessionId.create(T0)]
      expect(await through(store, watch, a, 10)).toEqual({ sessionId: a, since: at(10), cycles: 1 })
      expect(await through(store, watch, a, 20)).toEqual({ sessionId: a, since: at(10), cycles: 2 })
      expect(await through(store, watch, null, 25)).toEqual({ sessionId: a, since: at(10), cycles: 2 })
      expect(await through(store, watch, b, 30)).toEqual({ sessionId: b, since: at(30), cycles: 1 })
      expect(await through(store, watch, a, 40, false)).toEqual({ sessionId: b, since: at(30), cycles: 1 })
    })
  })
}

const merge = ({ queued }: EventFacts, ...fingerprints: string[]): EventDecision =>
  queued ? { kind: 'merge', into: queued, events: fingerprints.map(event) } : { kind: 'nothing' }

function describeEvents(open: () => Promise<Store>): void {
  /** A short version of the engine's decision: events that are known and not resolved are not new. */
  const send = (
    store: Store,
    watch: Pick<WatchRecord, 'id'>,
    firing: readonly string[],
    { resolved = [], seconds = 1 }: { resolved?: readonly string[]; seconds?: number } = {},
  ) => {
    const seen: EventFacts[] = []
    const decide = (facts: EventFacts): EventDecision => {
      seen.push(facts)
      const fresh = firing.filter(
        (f) => (facts.known.get(f)?.resolvedAt ?? null) !== null || !facts.known.has(f),
      )
      if (fresh.length === 0) return { kind: 'nothing' }
      if (facts.queued) return merge(facts, ...fresh)
      return {
        kind: 'add',
        cycle: newCycle(watch, { trigger: 'event', events: fresh.map(event), dueAt: at(seconds) }),
      }
    }
    const received = { firing: firing.map(event), resolved }
    return store.receiveEvents(watch.id, received, decide, at(seconds)).then((answer) => ({
      ...answer,
      facts: seen[0] as EventFacts,
    }))
  }

  describe('events', () => {
    it('that are equal make one cycle, a hundred at once too', async () => {
      const store = await open()
      const watch = await watching(store)
      const answers = await Promise.all(times(100, () => send(store, watch, ['web'])))
      expect(answers.filter(({ cycle }) => cycle !== null)).toHaveLength(1)
      const { items } = await store.listCycles({ watchId: watch.id, limit: 200 })
      expect(items).toMatchObject([{ state: 'queued', trigger: 'event', events: [event('web')] }])
    })

    it('that differ are merged into the queued cycle', async () => {
      const store = await open()
      const watch = await watching(store)
      await Promise.all(times(10, (i) => send(store, watch, [`e${i}`, `e${i + 1}`])))
      const [cycle, ...others] = await store.listUnfinishedCycles(watch.id)
      expect(others).toEqual([])
      expect(cycle?.events.map((e) => e.fingerprint)).toEqual(times(11, (i) => `e${i}`))
      for (const i of [0, 10]) {
        const { facts } = await send(store, watch, [`e${i}`])
        expect(facts.known.get(`e${i}`)).toMatchObject({ cycleId: cycle?.id, cycleOpen: true })
      }
    })

    it('are not merged into one that has begun, nor into one of another kind or watch', async () => {
      const store = await open()
      const watch = await watching(store)
      const { cycle: first } = await send(store, watch, ['a'])
      const { facts: before } = await send(store, await watching(store), ['a'])
      expect([before.open, before.queued, before.known.size]).toEqual([null, null, 0])
      await store.startCycle(cycleStart(first!), at(2))
      await queued(store, watch, { trigger: 'person' })
      const { cycle: second, facts } = await send(store, watch, ['b'], { seconds: 3 })
      expect(facts.queued).toBeNull()
      expect(facts.open?.id).toBe(first?.id)
      expect(facts.recentStarts).toEqual([at(1)])
      expect(second?.id).not.toBe(first?.id)
      expect((await store.getCycle(first!.id))?.events).toEqual([event('a')])
    })

    it('that are resolved and then come again are new', async () => {
      const store = await open()
      const watch = await watching(store)
      const { cycle: first } = await send(store, watch, ['web'])
      await store.endCycle(first!.id, cycleEnd(), at(2))
      expect(await send(store, watch, ['web'], { seconds: 3 })).toMatchObject({ cycle: null })
      const { facts } = await send(store, watch, [], { resolved: ['web', 'other'], seconds: 4 })
      expect(facts.known.size).toBe(0)
      const again = await send(store, watch, ['web'], { seconds: 5 })
      expect(again.facts.known.get('web')).toEqual({
        at: at(1),
        resolvedAt: at(4),
        cycleOpen: false,
        cycleId: first?.id,
      })
      expect(again.cycle).toMatchObject({ state: 'queued', number: 2 })
      expect(await send(store, watch, ['web'], { seconds: 6 })).toMatchObject({ cycle: null })
    })

    it('count the cycles they made within the last hour, and are deleted later', async () => {
      const store = await open()
      const watch = await watching(store)
      for (const [name, seconds] of [
        ['a', 0],
        ['b', 100],
        ['c', 200],
      ] as const) {
        const { cycle } = await send(store, watch, [name], { seconds })
        await store.endCycle(cycle!.id, cycleEnd(), at(seconds))
      }
      const { facts } = await send(store, watch, ['a', 'b'], { seconds: 3650 })
      expect(facts.recentStarts).toEqual([at(100), at(200)])
      await store.forgetEvents(at(150))
      const { facts: later } = await send(store, watch, ['a', 'b', 'c'], { seconds: 3650 })
      expect([...later.known.keys()]).toEqual(['c'])
    })
  })
}

function describeFollowUps(open: () => Promise<Store>): void {
  describe('a follow-up', () => {
    it('is returned as given', async () => {
      const store = await open()
      const given = newFollowUp({
        prompt: 'NUL \u0000 and 😀',
        reason: 'let it start',
        createdBy: 'person',
        runId: RunId.create(T0),
        rootRunId: RunId.create(T0),
        sessionId: SessionId.create(T0),
        cycleId: CycleId.create(T0),
        tier: 2,
        cron: '*/5 * * * *',
        timeZone: 'Europe/Berlin',
        recurring: true,
        relative: false,
        expiresAt: at(999),
      })
      expect(await store.addFollowUp(given, ROOM)).toEqual(given)
      expect(await store.getFollowUp(given.id)).toEqual(given)
      expect(await store.getFollowUp(FollowUpId.create(T0))).toBeNull()
    })

    it('is planned once for one call, however often it asks, also when the limit is reached', async () => {
      const store = await open()
      const first = newFollowUp()
      const again = () => newFollowUp({ call: first.call, prompt: 'another' })
      const answers = await Promise.all([first, again(), again()].map((f) => store.addFollowUp(f, ROOM)))
      expect(answers).toEqual([first, first, first])
      expect(await store.addFollowUp(again(), { own: 1, all: 1 })).toEqual(first)
      expect(await store.findFollowUpOfCall(first.call!)).toEqual(first)
      await store.endFollowUp(first.id, MISSED, at(1))
      expect(await store.addFollowUp(again(), ROOM)).toMatchObject({ id: first.id, state: 'missed' })
      expect((await store.listFollowUps({ limit: 9 })).items).toHaveLength(1)
    })

    it('without a call is a new one each time', async () => {
      const store = await open()
      await Promise.all(times(3, () => store.addFollowUp(newFollowUp({ call: null }), ROOM)))
      expect((await store.listFollowUps({ limit: 9 })).items).toHaveLength(3)
    })

    it.each([
      ['chain', { rootRunId: RunId.create(T0), sessionId: SessionId.create(T0) }],
      ['session', { rootRunId: null, sessionId: SessionId.create(T0) }],
    ])('is refused when there are too many of its %s, many asked at once', async (_, of) => {
      const store = await open()
      const answers = await Promise.all(
        times(10, () => store.addFollowUp(newFollowUp(of), { own: 3, all: 100 })),
      )
      expect(answers.filter((answer) => answer !== 'full')).toHaveLength(3)
      const planned = await store.listPlannedFollowUps(of)
      expect(ids(planned)).toEqual(
        answers.flatMap((answer) => (typeof answer === 'string' ? [] : [answer.id])),
      )
      expect(await store.addFollowUp(newFollowUp(), { own: 3, all: 100 })).toMatchObject({ state: 'planned' })
      await store.endFollowUp(planned[0]!.id, MISSED, at(1))
      expect(await store.addFollowUp(newFollowUp(of), { own: 3, all: 100 })).toMatchObject({
        state: 'planned',
      })
    })

    it('is refused when its cycle is over, or about to be, or its run is being cancelled', async () => {
      const store = await open()
      const { cycle, run } = await begun(store, await watching(store))
      const ask = () => store.addFollowUp(newFollowUp({ runId: run.id, cycleId: cycle.id }), ROOM)
      const { id } = await plan(store, { rootRunId: run.id, cycleId: cycle.id })
      await store.concludeCycle(cycle.id, 'cancelled', 'enough', at(3))
      expect(await store.getFollowUp(id)).toMatchObject({ state: 'cancelled', cancelledBy: 'person' })
      expect(await ask()).toBe('over')
      await settle(store, run.id)
      expect(await store.endCycle(cycle.id, cycleEnd(), at(5))).toBe(true)
      expect(await ask()).toBe('over')

      const { run: plain } = await running(store)
      expect(await store.addFollowUp(newFollowUp({ runId: plain.id }), ROOM)).toMatchObject({
        state: 'planned',
      })
      await store.markCancelRequested(plain.id, at(6))
      expect(await store.addFollowUp(newFollowUp({ runId: plain.id }), ROOM)).toBe('over')
      expect(await store.endFollowUpsOfRun(plain.id, MISSED, at(7))).toBe(1)
    })

    it('is refused when there are too many in total', async () => {
      const store = await open()
      const ask = () =>
        store.addFollowUp(newFollowUp({ sessionId: SessionId.create(T0) }), { own: 9, all: 4 })
      const answers = await Promise.all(times(9, ask))
      expect(answers.filter((answer) => answer !== 'full')).toHaveLength(4)
    })

    it('ends once, and only while it is planned', async () => {
      const store = await open()
      const followUp = await plan(store)
      const ends = await Promise.all([
        store.endFollowUp(followUp.id, { state: 'cancelled', by: 'person', message: null }, at(1)),
        store.endFollowUp(followUp.id, MISSED, at(2)),
      ])
      expect(ends).toEqual([true, false])
      expect(await store.getFollowUp(followUp.id)).toEqual({
        ...followUp,
        state: 'cancelled',
        cancelledBy: 'person',
        endedAt: at(1),
      })
      const fired = await plan(store)
      await store.fireFollowUp(fired, { run: newRun() }, null, at(60))
      expect(await store.endFollowUp(fired.id, MISSED, at(61))).toBe(false)
      expect(await store.getFollowUp(fired.id)).toMatchObject({ state: 'fired', message: null })
    })

    it('ends with its chain, and no other does', async () => {
      const store = await open()
      const [mine, other] = [RunId.create(T0), RunId.create(T0)]
      const [a, b] = [await plan(store, { rootRunId: mine }), await plan(store, { rootRunId: mine })]
      const c = await plan(store, { rootRunId: other })
      await store.endFollowUp(b.id, { state: 'cancelled', by: 'agent', message: null }, at(1))
      expect(await store.endFollowUpsOf(mine, MISSED, at(2))).toBe(1)
      const states = [a, b, c].map(async ({ id }) => (await store.getFollowUp(id))?.state)
      expect(await Promise.all(states)).toEqual(['missed', 'cancelled', 'planned'])
    })
  })

  describe('follow-ups', () => {
    it('are due when their time has come, unless the run that asked for them is open', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      const own = await plan(store, { runId: run.id, dueAt: at(10) })
      const later = await plan(store, { dueAt: at(30) })
      const sooner = await plan(store, { dueAt: at(20) })
      const due = async (seconds: number, limit = 9) => ids(await store.listDueFollowUps(at(seconds), limit))
      expect(await due(19)).toEqual([])
      expect(await due(20)).toEqual([sooner.id])
      expect(await due(99)).toEqual([sooner.id, later.id])
      expect(await due(99, 1)).toEqual([sooner.id])
      await store.endAttempt(ending(attempt, { next: { kind: 'retry', notBefore: at(9), why: 'again' } }))
      expect(await due(20)).toEqual([sooner.id])
      await store.settleQueued(run.id, COMPLETED, at(10))
      expect(await due(99)).toEqual([own.id, sooner.id, later.id])
      await store.endFollowUp(sooner.id, MISSED, at(40))
      expect(await due(99)).toEqual([own.id, later.id])
    })

    it('say when the next one becomes due', async () => {
      const store = await open()
      expect(await store.nextFollowUpAt(T0)).toBeNull()
      await plan(store, { dueAt: at(10) })
      const next = await plan(store, { dueAt: at(20) })
      expect(await store.nextFollowUpAt(at(5))).toEqual(at(10))
      expect(await store.nextFollowUpAt(at(10))).toEqual(at(20))
      await store.endFollowUp(next.id, MISSED, at(11))
      expect(await store.nextFollowUpAt(at(10))).toBeNull()
    })

    it('"in a while" move with the clock; those for a time, and those that have ended, do not', async () => {
      const store = await open()
      const relative = await plan(store, { relative: true })
      const fixed = await plan(store, { relative: false })
      const over = await plan(store, { relative: true })
      await store.endFollowUp(over.id, MISSED, at(1))
      const move = (jumpMs: number) => store.moveTimes({ jumpMs, missedMs: 9000, watches: [], clock: '{}' })
      await move(86_400_000)
      const dueAt = async ({ id }: FollowUpRecord) => (await store.getFollowUp(id))?.dueAt
      expect(await dueAt(relative)).toEqual(at(60 + 86_400))
      expect(await dueAt(fixed)).toEqual(at(60))
      expect(await dueAt(over)).toEqual(at(60))
      await move(-86_400_000)
      expect(await dueAt(relative)).toEqual(at(60))
    })

    it('of a chain, of a session and of a run are distinguished', async () => {
      const store = await open()
      const [root, runId, sessionId] = [RunId.create(T0), RunId.create(T0), SessionId.create(T0)]
      const late = await plan(store, { rootRunId: root, runId, sessionId, dueAt: at(90) })
      const soon = await plan(store, { rootRunId: root, sessionId, dueAt: at(30) })
      const plain = await plan(store, { runId, sessionId })
      await plan(store, {})
      const chain = await store.listPlannedFollowUps({ rootRunId: root, sessionId })
      expect(ids(chain)).toEqual([soon.id, late.id])
      expect(ids(await store.listPlannedOfRun(runId))).toEqual([plain.id, late.id])
      const session = await store.listPlannedFollowUps({ rootRunId: null, sessionId })
      expect(ids(session)).toEqual([soon.id, plain.id, late.id])
    })

    it('are listed newest first, in pages, by state, run and chain', async () => {
      const store = await open()
      const [runId, rootRunId] = [RunId.create(T0), RunId.create(T0)]
      const made: FollowUpRecord[] = []
      for (let i = 0; i < 7; i++) made.push(await plan(store, { runId, ...(i % 2 ? { rootRunId } : {}) }))
      await store.endFollowUp(made[0]!.id, MISSED, at(1))
      const given = await plan(store)
      await store.fireFollowUp(given, { attempt: { id: AttemptId.create(T0), runId } }, null, at(60))
      const all = async (query: Partial<Parameters<Store['listFollowUps']>[0]>) => {
        const seen: string[] = []
        let cursor: string | undefined
        do {
          const page = await store.listFollowUps({ limit: 3, cursor, ...query })
          seen.push(...ids(page.items))
          cursor = page.nextCursor ?? undefined
        } while (cursor)
        return seen
      }
      const newest = ids([...made, given]).toReversed()
      expect(await all({})).toEqual(newest)
      expect(await all({ runId })).toEqual(newest)
      expect(await all({ rootRunId })).toEqual(ids(made.filter((_, i) => i % 2)).toReversed())
      expect(await all({ state: 'missed' })).toEqual([made[0]?.id])
      expect(await all({ state: 'planned' })).toEqual(ids(made.slice(1)).toReversed())
      await expect(store.listFollowUps({ limit: 3, cursor: runId })).rejects.toMatchObject({
        code: 'bad-request',
      })
    })
  })
}

function describeFiring(open: () => Promise<Store>): void {
  const again = (seconds: number, messageId = 'next') => ({ dueAt: at(seconds), messageId })

  describe('giving a follow-up to its session', () => {
    it('happens once, however many try, and creates one run', async () => {
      const store = await open()
      const followUp = await plan(store)
      const runs = times(5, () => newRun({ followUpId: followUp.id }))
      const attempt = { id: AttemptId.create(T0), runId: RunId.create(T0) }
      const fired = await Promise.all([
        ...runs.map((run) => store.fireFollowUp(followUp, { run }, null, at(61))),
        store.fireFollowUp(followUp, { attempt }, null, at(61)),
        store.endFollowUp(followUp.id, MISSED, at(61)),
      ])
      const [first, ...others] = fired
      expect(first).toMatchObject({ run: { id: runs[0]?.id, links: { followUpId: followUp.id } } })
      expect(others).toEqual([null, null, null, null, null, false])
      expect(ids((await store.listRuns({ limit: 9 })).items)).toEqual([runs[0]?.id])
      expect(await store.getFollowUp(followUp.id)).toEqual({
        ...followUp,
        state: 'fired',
        firedCount: 1,
        firedAt: at(61),
        firedRunId: runs[0]?.id,
        firedMessageId: followUp.messageId,
        endedAt: at(61),
      })
    })

    it('to a kept process happens once too, and creates no run', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      const followUp = await plan(store, { runId: run.id })
      expect(await store.findLiveFollowUp(run.id)).toBeNull()
      const as = { attempt: { id: attempt.id, runId: run.id } }
      const fired = await Promise.all([
        store.fireFollowUp(followUp, as, null, at(61)),
        store.fireFollowUp(followUp, as, null, at(61)),
        store.fireFollowUp(followUp, { run: newRun() }, null, at(61)),
      ])
      expect(fired).toEqual([{ run: null }, null, null])
      expect((await store.listRuns({ limit: 9 })).items).toHaveLength(1)
      expect(await store.findLiveFollowUp(run.id)).toMatchObject({
        id: followUp.id,
        state: 'fired',
        firedAttemptId: attempt.id,
        firedMessageId: followUp.messageId,
      })
    })

    it('is atomic: without its run it stays planned', async () => {
      const store = await open()
      const followUp = await plan(store)
      const { id } = await admitted(store)
      await expect(store.fireFollowUp(followUp, { run: newRun({ id }) }, null, at(61))).rejects.toThrow()
      expect(await store.getFollowUp(followUp.id)).toEqual(followUp)
    })

    it('of a recurring one plans the next time, with another message, and once for each', async () => {
      const store = await open()
      const first = await plan(store, { recurring: true, cron: '* * * * *', messageId: 'first' })
      const fire = (followUp: FollowUpRecord, next: ReturnType<typeof again> | null) =>
        Promise.all(times(3, () => store.fireFollowUp(followUp, { run: newRun() }, next, at(61))))
      expect((await fire(first, again(120))).filter((one) => one !== null)).toHaveLength(1)
      const second = (await store.getFollowUp(first.id))!
      expect(second).toMatchObject({
        state: 'planned',
        dueAt: at(120),
        messageId: 'next',
        firedMessageId: 'first',
        firedCount: 1,
        endedAt: null,
      })
      expect(await fire(first, again(180))).toEqual([null, null, null])
      expect((await fire(second, null)).filter((one) => one !== null)).toHaveLength(1)
      expect(await store.getFollowUp(first.id)).toMatchObject({
        state: 'fired',
        firedCount: 2,
        firedMessageId: 'next',
        endedAt: at(61),
      })
      expect((await store.listRuns({ limit: 9 })).items).toHaveLength(2)
    })

    it('finds the newest that a run was given, if there were several', async () => {
      const store = await open()
      const { run, attempt } = await running(store)
      for (const seconds of [61, 65]) {
        const followUp = await plan(store, { runId: run.id, prompt: `at ${seconds}` })
        await store.fireFollowUp(followUp, { attempt: { id: attempt.id, runId: run.id } }, null, at(seconds))
      }
      expect(await store.findLiveFollowUp(run.id)).toMatchObject({ prompt: 'at 65' })
    })
  })
}
