/** Stored times and the clock, on a real store, with clocks that the test moves: waits keep their planned length. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { RunId } from '../../src/contract/ids.ts'
import { SteadyClock } from '../../src/core/steady-clock.ts'
import { AttemptWatch, type AttemptWatchDeps } from '../../src/engine/supervise/attempt-watch.ts'
import { Timekeeping } from '../../src/engine/timetable/timekeeping.ts'
import { Dispatcher } from '../../src/queue/dispatcher.ts'
import { CLOCK_FACT } from '../../src/store/clock-changes.ts'
import type { RunRecord } from '../../src/store/runs/records.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { ending, running, T0 } from '../store/records.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const JUMPS: [string, number][] = [
  ['an hour forward', HOUR],
  ['two days forward', 2 * DAY],
  ['a day back', -DAY],
]

class Machine {
  wallMs = T0.getTime()
  passedMs = 5000
  readonly raw = { now: () => new Date(this.wallMs), monotonicMs: () => this.passedMs }

  readonly store: Store

  constructor(store: Store) {
    this.store = store
  }

  static async create(): Promise<Machine> {
    const dir = mkdtempSync(join(tmpdir(), 'reprise-time-'))
    const store = await openSqliteStore(join(dir, 'db'), T0, { commitWindowMs: 0 })
    onTestFinished(async () => {
      await store.close()
      rmSync(dir, { recursive: true })
    })
    return new Machine(store)
  }

  /** A daemon's clock and its timekeeping. `meanwhile` happens during its start. */
  async boot(meanwhile = () => {}) {
    const clock = new SteadyClock(this.raw)
    meanwhile()
    const log = { info: () => {}, warn: () => {}, error: () => {} }
    const persist = <T>(write: () => Promise<T>) => write()
    const parts = { store: this.store, clock, log, random: () => 0.5, persist }
    const timekeeping = new Timekeeping(parts, () => {})
    await timekeeping.open()
    onTestFinished(() => timekeeping.close())
    return { clock, parts, timekeeping }
  }

  pass(ms: number, clock?: SteadyClock): void {
    for (let left = ms; left > 0; left -= 1000) {
      const step = Math.min(left, 1000)
      this.wallMs += step
      this.passedMs += step
      clock?.watchedMs()
    }
  }
}

/** A job that waits for its next attempt. */
async function waiting(store: Store, afterMs: number): Promise<RunId> {
  const { run, attempt } = await running(store)
  const notBefore = new Date(T0.getTime() + afterMs)
  await store.endAttempt(ending(attempt, { at: T0, next: { kind: 'retry', notBefore, why: 'limit' } }))
  return run.id
}

const isDue = async (store: Store, clock: SteadyClock) =>
  (await store.listStartable(clock.now(), 5, { agents: [], places: [] })).length > 0

it.each(JUMPS)('the clock is set %s: a waiting job waits as long as planned', async (_, byMs) => {
  const machine = await Machine.create()
  const { store } = machine
  const { clock, timekeeping } = await machine.boot()
  await waiting(store, 10 * MINUTE)
  machine.pass(4 * MINUTE, clock)
  machine.wallMs += byMs
  expect(await isDue(store, clock), 'before the stored times have moved').toBe(false)
  await timekeeping.follow()
  expect(clock.now().getTime()).toBe(T0.getTime() + 4 * MINUTE + byMs)
  machine.pass(6 * MINUTE - 1, clock)
  expect(await isDue(store, clock)).toBe(false)
  machine.pass(1, clock)
  expect(await isDue(store, clock)).toBe(true)
})

it.each(JUMPS)('the clock is set %s while no daemon runs: the next daemon detects it', async (_, byMs) => {
  const machine = await Machine.create()
  const { store } = machine
  await machine.boot()
  await waiting(store, 10 * MINUTE)
  machine.pass(4 * MINUTE)
  machine.wallMs += byMs
  const { clock } = await machine.boot()
  machine.pass(6 * MINUTE - 1, clock)
  expect(await isDue(store, clock)).toBe(false)
  machine.pass(1, clock)
  expect(await isDue(store, clock)).toBe(true)
})

it.each(JUMPS)('the clock is set %s while a daemon starts: the times move once', async (_, byMs) => {
  const machine = await Machine.create()
  const { store } = machine
  await machine.boot()
  await waiting(store, 10 * MINUTE)
  machine.pass(4 * MINUTE)
  const { clock, timekeeping } = await machine.boot(() => {
    machine.wallMs += byMs
  })
  await timekeeping.follow()
  expect(clock.now().getTime()).toBe(T0.getTime() + 4 * MINUTE + byMs)
  machine.pass(6 * MINUTE - 1, clock)
  expect(await isDue(store, clock)).toBe(false)
  machine.pass(1, clock)
  expect(await isDue(store, clock)).toBe(true)
})

it('the machine is restarted with a clock that is a day behind: nothing waits longer than planned', async () => {
  const machine = await Machine.create()
  const { store } = machine
  await machine.boot()
  await waiting(store, 10 * MINUTE)
  const before = JSON.parse((await store.getFact(CLOCK_FACT))!)
  await store.putFact(CLOCK_FACT, JSON.stringify({ ...before, bootId: 'another' }))
  machine.wallMs -= DAY
  machine.passedMs = 7
  const { clock } = await machine.boot()
  machine.pass(10 * MINUTE - 1, clock)
  expect(await isDue(store, clock)).toBe(false)
  machine.pass(1, clock)
  expect(await isDue(store, clock)).toBe(true)
})

it('a suspend of the machine counts as waiting time', async () => {
  const machine = await Machine.create()
  const { clock, timekeeping } = await machine.boot()
  await waiting(machine.store, 10 * MINUTE)
  machine.wallMs += HOUR
  machine.passedMs += HOUR
  await timekeeping.follow()
  expect(await isDue(machine.store, clock)).toBe(true)
})

it('a dispatcher that is woken when the times have moved starts the runs that are due then, and no others', async () => {
  const machine = await Machine.create()
  const { store } = machine
  const { clock, timekeeping } = await machine.boot()
  const id = await waiting(store, 10 * MINUTE)
  const started: string[] = []
  const looked = { next: () => {} }
  const dispatcher = new Dispatcher<RunRecord>({
    clock,
    limits: { concurrency: 2, perAgent: {}, perPlace: 9 },
    listStartable: store.listStartable,
    nextDueAt: async (now) => {
      const due = await store.nextDueAt(now)
      looked.next()
      return due
    },
    start: async (run) => void started.push(run.id),
    onError: (error) => expect.unreachable(String(error)),
  })
  onTestFinished(() => dispatcher.close())
  const look = () =>
    new Promise<void>((resolve) => {
      looked.next = resolve
      dispatcher.wake()
    })
  dispatcher.open()
  for (const [, byMs] of JUMPS) {
    machine.wallMs += byMs
    await look()
    await timekeeping.follow()
    await look()
  }
  expect(started).toEqual([])
  machine.pass(10 * MINUTE, clock)
  await look()
  expect(started).toContain(id)
})

const LIMITS = {
  maxDurationMs: 30 * MINUTE,
  idleTimeoutMs: 10 * MINUTE,
  hangAfterResultMs: MINUTE,
  questionTimeoutMs: 20 * MINUTE,
  maxOutputBytes: 1000,
}

async function watched() {
  const machine = await Machine.create()
  const daemon = await machine.boot()
  const { run, attempt } = await running(machine.store)
  const open = async (parts: AttemptWatchDeps) =>
    new AttemptWatch(parts, (await machine.store.listAttempts(run.id))[0] ?? attempt, 0)
  return { machine, ...daemon, watch: await open(daemon.parts), open }
}

const verdictOf = async (watch: AttemptWatch) => {
  const verdict = await watch.judge(LIMITS)
  return verdict.kind === 'stop' ? verdict.cause : verdict.forMs / MINUTE
}

it.each([...JUMPS, ['not at all, but all processes are stopped for a night', 0] as [string, number]])(
  'the clock is set %s: an agent at work, one that waits and one that is told to exit go on',
  async (_, byMs) => {
    const { machine, clock, watch } = await watched()
    const disturb = () => {
      machine.wallMs += byMs === 0 ? 8 * HOUR : byMs
      if (byMs === 0) machine.passedMs += 8 * HOUR
      // The time between the last tick before and the first tick after counts as two seconds at most.
      return byMs === 0 ? 2000 / MINUTE : 0
    }
    machine.pass(9 * MINUTE, clock)
    expect(await verdictOf(watch)).toBe(1)
    const lost = disturb()
    expect(await verdictOf(watch)).toBeCloseTo(1 - lost)
    machine.pass(MINUTE, clock)
    expect(await verdictOf(watch)).toBe('silent')
    watch.noteOutput(1)
    expect(await verdictOf(watch)).toBe(10)
    watch.noteQuestion('q')
    machine.pass(19 * MINUTE, clock)
    disturb()
    expect(await verdictOf(watch)).toBeCloseTo(1 - lost)
    watch.noteQuestion(null)
    watch.noteOver()
    disturb()
    expect(await verdictOf(watch)).toBeCloseTo(1 - lost)
  },
)

it('another daemon continues the counts of work and waiting, restarts silence, and counts nothing in between', async () => {
  const { machine, clock, watch, open } = await watched()
  machine.pass(8 * MINUTE, clock)
  watch.noteQuestion('q')
  machine.pass(5 * MINUTE, clock)
  await watch.judge(LIMITS)
  await watch.store()
  machine.pass(3 * HOUR)
  const next = await machine.boot()
  const adopted = await open(next.parts)
  adopted.noteQuestion('q')
  adopted.noteAdopted()
  expect(await verdictOf(adopted)).toBe(15)
  adopted.noteQuestion(null)
  expect(await verdictOf(adopted)).toBe(10)
  machine.pass(9 * MINUTE, next.clock)
  adopted.noteOutput(1)
  machine.pass(9 * MINUTE, next.clock)
  adopted.noteOutput(2)
  expect(await verdictOf(adopted)).toBe(30 - 8 - 18)
})
