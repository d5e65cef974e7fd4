/**
 * Whatever happens in whatever order (time, clock changes, ends of runs, follow-ups, triggers, events, approvals,
 * cancels, restarts): a watch has one open cycle, a follow-up is given once for each time it is due, no event gets
 * lost, and what began ends.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RunRecord } from '../../src/store/runs/records.ts'
import { announceSeed } from '../core/random.ts'
import { DAY, HOUR, MINUTE, Stage } from './stage.ts'

type Step =
  | { do: 'pass'; ms: number }
  | { do: 'settle'; which: number; end: 'well' | 'silent' | 'failed' | 'asks' }
  | { do: 'plan'; which: number; inMs: number | null }
  | { do: 'answer'; which: number; approve: boolean }
  | { do: 'send'; watch: number; event: number; resolved: boolean }
  | { do: 'trigger' | 'cancel-cycle' | 'cancel-follow-up'; which: number }
  | { do: 'restart' }
  | { do: 'set-clock'; byMs: number }

const which = fc.nat(9)
const only = <T extends string>(...what: T[]) => fc.constantFrom(...what)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: only('pass'),
      ms: fc.constantFrom(1000, MINUTE, 7 * MINUTE, 31 * MINUTE, 3 * HOUR),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: only('settle'),
      which,
      end: only('well', 'well', 'silent', 'failed', 'asks'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: only('plan'),
      which,
      inMs: fc.option(fc.constantFrom(MINUTE, 10 * MINUTE, 40 * MINUTE)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: only('answer'), which, approve: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: only('send'), watch: fc.nat(1), event: fc.nat(3), resolved: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: only('trigger', 'cancel-cycle', 'cancel-follow-up'), which }) },
  { weight: 1, arbitrary: fc.record({ do: only('restart') }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: only('set-clock'), byMs: fc.constantFrom(HOUR, 2 * DAY, -DAY) }),
  },
)

/** Added so that the counts at the end do not depend on chance. */
const FIRES: Step[] = [
  { do: 'trigger', which: 0 },
  { do: 'plan', which: 0, inMs: 10 * MINUTE },
  { do: 'settle', which: 0, end: 'well' },
  { do: 'pass', ms: 31 * MINUTE },
]

const NAMES = ['skips', 'queues'] as const
const pick = <T>(items: readonly T[], index: number): T | undefined =>
  items[index % Math.max(1, items.length)]

class Play {
  readonly #stage: Stage
  /** The fingerprints that were accepted as new, by watch. */
  readonly taken: string[] = []
  /** How often the clock was set. */
  #jumps = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  async begin(): Promise<void> {
    const common = { everyMs: 20 * MINUTE, maxDurationMs: HOUR, eventsPerHour: 3600 }
    await this.#stage.watch({ name: 'skips', ...common })
    await this.#stage.watch({ name: 'queues', ...common, overlap: 'queue', memory: 'persistent' })
  }

  async step(s: Step): Promise<void> {
    const stage = this.#stage
    switch (s.do) {
      case 'pass':
        return stage.pass(s.ms)
      case 'set-clock':
        this.#jumps++
        return stage.setClock(s.byMs)
      case 'settle': {
        const run = pick(await this.#workable(), s.which)
        if (run) await this.#settle(run, s.end)
        return
      }
      case 'plan': {
        const run = pick(await this.#workable(), s.which)
        const wish =
          s.inMs === null ? { cron: '*/10 * * * *', recurring: true, timeZone: 'UTC' } : { inMs: s.inMs }
        if (run) await stage.plan(run, wish)
        return
      }
      case 'answer': {
        const asking = pick(await stage.approvals.list(), s.which)
        if (asking) await stage.approvals.answer(asking.runId, { decision: s.approve ? 'approve' : 'refuse' })
        return stage.quiet()
      }
      case 'send': {
        const fingerprint = `event-${s.event}`
        const payload = { fingerprint, title: fingerprint, status: s.resolved ? 'resolved' : 'firing' }
        const name = NAMES[s.watch]!
        const { result, cycleId } = await stage.watches.receiveEvents(name, payload)
        if (result !== 'known' && result !== 'resolved') this.taken.push(`${cycleId} ${fingerprint}`)
        return stage.quiet()
      }
      case 'trigger':
        await stage.watches.triggerWatch(NAMES[s.which % 2]!, { reason: 'why not' })
        return stage.quiet()
      case 'cancel-cycle': {
        const cycle = pick(await stage.store.listUnfinishedCycles(), s.which)
        if (cycle) await stage.watches.cancelCycle(cycle.id)
        return stage.quiet()
      }
      case 'cancel-follow-up': {
        const { items } = await stage.store.listFollowUps({ limit: 99, state: 'planned' })
        const followUp = pick(items, s.which)
        if (followUp) await stage.followUps.cancelFollowUp(followUp.id)
        return stage.quiet()
      }
      case 'restart':
        return stage.restart()
    }
  }

  /** Runs that an agent works on, or could: one at a time in a session. */
  async #workable(): Promise<RunRecord[]> {
    const open = await this.#stage.openRuns()
    const busy = new Set(open.flatMap((run) => (run.state.at === 'running' ? [run.sessionId] : [])))
    return open.filter(
      (run) => run.state.at === 'running' || run.sessionId === null || !busy.has(run.sessionId),
    )
  }

  async #settle(run: RunRecord, end: Extract<Step, { do: 'settle' }>['end']): Promise<void> {
    const { cancelRequested } = await this.#stage.run(run.id)
    if (cancelRequested) {
      return this.#stage.settle(run, { outcome: { name: 'cancelled', message: 'cancelled' }, status: null })
    }
    if (end === 'failed') {
      return this.#stage.settle(run, { outcome: { name: 'crashed', message: 'it is gone' }, status: null })
    }
    return this.#stage.settle(run, { status: end === 'silent' ? null : 'degraded', asks: end === 'asks' })
  }

  /** The invariants that hold whenever nothing is in progress. */
  async check(): Promise<void> {
    const { store, now } = this.#stage
    const unfinished = await store.listUnfinishedCycles()
    const open = unfinished.filter(({ state }) => state === 'open')
    const watches = open.map(({ watchId }) => watchId)
    expect(new Set(watches).size, 'one open cycle a watch').toBe(watches.length)
    for (const { state, watchId } of unfinished) {
      if (state === 'queued') expect(watches, 'what is queued waits for another').toContain(watchId)
    }
    const runs = await this.#stage.runs()
    const atWork = runs.filter(({ state }) => state.at !== 'settled')
    for (const { links } of atWork) {
      expect(
        open.map(({ id }) => id),
        'a run at work belongs to an open cycle',
      ).toContain(links.cycleId)
    }
    const asked = (await store.listWaitingEscalations(99)).map(({ runId }) => runId)
    for (const { id, rootRunId, deadlineAt, outcome } of open) {
      const own = runs.filter(({ links }) => links.cycleId === id)
      const working = own.some(({ state }) => state.at !== 'settled')
      const asks = own.some((run) => asked.includes(run.id))
      const planned = await store.listPlannedFollowUps({ rootRunId, sessionId: null })
      expect(working || asks || planned.length > 0, 'an open cycle has something to wait for').toBe(true)
      if (deadlineAt! <= now && !asks) expect(outcome, 'time is over').not.toBeNull()
      if (outcome !== null)
        expect(planned, 'nothing is planned in a cycle that is as good as over').toEqual([])
    }
    await this.#checkFollowUps(runs)
  }

  async #checkFollowUps(runs: readonly RunRecord[]): Promise<void> {
    const { store, now } = this.#stage
    const { items } = await store.listFollowUps({ limit: 999 })
    for (const { id, state, recurring, firedCount, createdAt, dueAt, runId } of items) {
      const given = runs.filter(({ links }) => links.followUpId === id)
      expect(given, 'as many runs as firings').toHaveLength(firedCount)
      expect(new Set(given.map(({ promptId }) => promptId)).size, 'each with a prompt of its own').toBe(
        firedCount,
      )
      // Setting the clock makes what follows the time of day due once more; what is over does not move with it.
      const elapsed = Math.ceil((now.getTime() - createdAt.getTime()) / (10 * MINUTE))
      if (!recurring) expect(firedCount, 'once').toBeLessThanOrEqual(1)
      else if (state === 'planned' || this.#jumps === 0)
        expect(firedCount, 'not more often than it was due').toBeLessThanOrEqual(elapsed + this.#jumps)
      const over = runs.find((run) => run.id === runId)?.state.at === 'settled'
      if (state === 'planned' && over) expect(dueAt > now, 'what is due has been given').toBe(true)
    }
  }

  /** Finishes all work and lets time pass in which nothing new begins. */
  async wind(): Promise<void> {
    const stage = this.#stage
    for (const name of NAMES) await stage.watches.updateWatch(name, { paused: true })
    for (const { runId } of await stage.approvals.list()) {
      await stage.approvals.answer(runId, { decision: 'refuse' })
    }
    await stage.quiet()
    for (let i = 0; i < 200; i++) {
      const run = (await this.#workable())[0]
      if (run) await this.#settle(run, 'well')
      else if ((await stage.store.listUnfinishedCycles()).length === 0) return
      else await stage.pass(DAY)
      await this.check()
    }
    expect(await stage.store.listUnfinishedCycles(), 'what began ends').toEqual([])
  }

  async checkEnd(): Promise<void> {
    const { store } = this.#stage
    expect((await store.listFollowUps({ limit: 9, state: 'planned' })).items).toEqual([])
    const told: string[] = []
    for (const name of NAMES) {
      const cycles = await this.#stage.cycles(name)
      expect(cycles.map(({ number }) => number)).toEqual(cycles.map((_, i) => i + 1))
      for (const { id, events, prompt, rootRunId, state, outcome } of cycles) {
        expect(['ended', 'skipped']).toContain(state)
        expect(outcome !== null).toBe(state === 'ended')
        if (rootRunId === null) continue
        for (const { title } of events) expect(prompt).toContain(`"title": "${title}"`)
        expect((await this.#stage.run(rootRunId)).prompt).toBe(prompt)
        told.push(...events.map(({ fingerprint }) => `${id} ${fingerprint}`))
      }
    }
    const begun = new Set(told.map((one) => one.split(' ')[0]))
    const expected = this.taken.filter((one) => begun.has(one.split(' ')[0]))
    expect(told.toSorted(), 'each event that was taken is told once').toEqual(expected.toSorted())
  }
}

it('any sequence of events leaves everything consistent', async () => {
  const seed = announceSeed()
  let fired = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
      const stage = await Stage.set()
      try {
        const play = new Play(stage)
        await play.begin()
        for (const s of steps) {
          await play.step(s)
          await play.check()
        }
        await play.wind()
        await play.checkEnd()
        const { items } = await stage.store.listFollowUps({ limit: 999 })
        fired += items.reduce((sum, { firedCount }) => sum + firedCount, 0)
      } finally {
        await stage.clear()
      }
    }),
    { seed, numRuns: process.env.REPRISE_TEST_ALL ? 300 : 40, examples: [[FIRES]] },
  )
  expect(fired).toBeGreaterThan(0)
}, 180_000)
