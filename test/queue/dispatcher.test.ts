/** When queued runs start. The test controls the store, the runs and the time. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Dispatcher } from '../../src/queue/dispatcher.ts'

interface FakeRun {
  id: string
  agent: string
  place: string | null
  notBefore: number
  /** Held back by its lane: the run is due, but the store does not list it. */
  blocked?: true
}

const T0 = Date.parse('2026-03-01T12:00:00Z')

beforeEach(() => {
  vi.useFakeTimers({ now: T0, toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const fake = (run: Partial<FakeRun> & { id: string }): FakeRun => ({
  agent: 'claude',
  place: null,
  notBefore: 0,
  ...run,
})

/** A store with queued runs, which the test ends. */
function stage(concurrency: number) {
  const queued: FakeRun[] = []
  const running = new Map<string, () => void>()
  const started: string[] = []
  const errors: unknown[] = []
  const looks: number[] = []
  let failing = 0
  let most = 0
  let gate: Promise<void> | null = null
  const dispatcher = new Dispatcher<FakeRun>({
    clock: { now: () => new Date(), monotonicMs: () => performance.now() },
    limits: { concurrency, perAgent: { slow: 1 }, perPlace: 1 },
    listStartable: async (now, limit, busy) => {
      looks.push(limit)
      await gate
      if (failing > 0) {
        failing--
        throw new Error('database is away')
      }
      return queued
        .filter((run) => !run.blocked && run.notBefore <= now.getTime())
        .filter((run) => !busy.agents.includes(run.agent) && !busy.places.includes(run.place ?? ''))
        .slice(0, limit)
    },
    nextDueAt: async (now) => {
      const due = queued.map((run) => run.notBefore).filter((ms) => ms > now.getTime())
      return due.length > 0 ? new Date(Math.min(...due)) : null
    },
    start: (run) => {
      started.push(run.id)
      queued.splice(queued.indexOf(run), 1)
      return new Promise((resolve) => {
        running.set(run.id, () => {
          running.delete(run.id)
          resolve()
        })
        most = Math.max(most, running.size)
      })
    },
    onError: (error) => errors.push(error),
  })
  onTestFinished(() => dispatcher.close())
  return {
    dispatcher,
    queued,
    running,
    started,
    errors,
    looks,
    most: () => most,
    fail: (times: number) => {
      failing = times
    },
    /** Delays the answers of the store until the returned function is called. */
    holdAnswers: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return () => {
        gate = null
        resolve()
      }
    },
    add: (...ids: string[]) => queued.push(...ids.map((id) => fake({ id }))),
    finish: (id: string) => running.get(id)?.(),
  }
}

/** Runs all pending callbacks without advancing the time. */
const settle = () => vi.advanceTimersByTimeAsync(0)

describe('runs are started', () => {
  it('in the order of the store, as many as the limit allows, and the next when one ends', async () => {
    const s = stage(2)
    s.add('a', 'b', 'c', 'd')
    s.dispatcher.open()
    await settle()
    expect(s.started).toEqual(['a', 'b'])
    s.finish('a')
    await settle()
    expect(s.started).toEqual(['a', 'b', 'c'])
    s.finish('b')
    s.finish('c')
    await settle()
    expect(s.started).toEqual(['a', 'b', 'c', 'd'])
    expect(s.most()).toBe(2)
  })

  it('not before it is opened, nor after it is closed', async () => {
    const s = stage(2)
    s.add('a')
    s.dispatcher.wake()
    await settle()
    expect(s.started).toEqual([])
    s.dispatcher.open()
    await settle()
    await s.dispatcher.close()
    expect(vi.getTimerCount()).toBe(0)
    s.add('b')
    s.dispatcher.wake()
    s.finish('a')
    await vi.advanceTimersByTimeAsync(120_000)
    expect(s.started).toEqual(['a'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('not when it is closed while the store is answering; closing waits for that', async () => {
    const s = stage(2)
    s.add('a')
    const answer = s.holdAnswers()
    s.dispatcher.open()
    await settle()
    let closed = false
    const closing = s.dispatcher.close().then(() => {
      closed = true
    })
    await settle()
    expect(closed).toBe(false)
    answer()
    await closing
    expect(s.started).toEqual([])
  })

  it('once, even if the store still lists a run that has not started yet', async () => {
    const s = stage(3)
    const keep = fake({ id: 'a' })
    s.queued.push(keep)
    s.dispatcher.open()
    await settle()
    s.queued.unshift(keep)
    s.add('b')
    s.dispatcher.wake()
    await settle()
    expect(s.started).toEqual(['a', 'b'])
  })

  it('counting adopted runs', async () => {
    const s = stage(2)
    const { promise, resolve } = Promise.withResolvers<void>()
    s.dispatcher.adopt(fake({ id: 'recovered' }), promise)
    s.add('a', 'b')
    s.dispatcher.open()
    await settle()
    expect(s.started).toEqual(['a'])
    resolve()
    await settle()
    expect(s.started).toEqual(['a', 'b'])
  })
})

describe('a wake', () => {
  it('makes it look at once', async () => {
    const s = stage(2)
    s.dispatcher.open()
    await settle()
    s.add('a')
    s.dispatcher.wake()
    await settle()
    expect(s.started).toEqual(['a'])
  })

  it('during a look causes one more look, however many wakes there were', async () => {
    const s = stage(2)
    const answer = s.holdAnswers()
    s.dispatcher.open()
    await settle()
    for (let i = 0; i < 50; i++) s.dispatcher.wake()
    answer()
    await settle()
    expect(s.looks).toHaveLength(2)
  })

  it('that is lost causes a delay of at most a minute', async () => {
    const s = stage(2)
    s.dispatcher.open()
    await settle()
    s.add('a')
    await vi.advanceTimersByTimeAsync(59_000)
    expect(s.started).toEqual([])
    await vi.advanceTimersByTimeAsync(1000)
    expect(s.started).toEqual(['a'])
  })
})

describe('a run that waits for a time', () => {
  it('starts at that time', async () => {
    const s = stage(2)
    s.queued.push(fake({ id: 'later', notBefore: T0 + 7000 }))
    s.dispatcher.open()
    await vi.advanceTimersByTimeAsync(6999)
    expect(s.started).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(s.started).toEqual(['later'])
  })

  it('starts at that time even if it is days away, or another run is due earlier', async () => {
    const s = stage(5)
    s.queued.push(
      fake({ id: 'days', notBefore: T0 + 3 * 86_400_000 }),
      fake({ id: 'soon', notBefore: T0 + 90_000 }),
    )
    s.dispatcher.open()
    await vi.advanceTimersByTimeAsync(90_000)
    expect(s.started).toEqual(['soon'])
    await vi.advanceTimersByTimeAsync(3 * 86_400_000 - 90_001)
    expect(s.started).toEqual(['soon'])
    await vi.advanceTimersByTimeAsync(1)
    expect(s.started).toEqual(['soon', 'days'])
  })

  it('and is due but held back causes no busy loop', async () => {
    const s = stage(2)
    s.queued.push(fake({ id: 'blocked', notBefore: T0 - 5000, blocked: true }))
    s.dispatcher.open()
    await vi.advanceTimersByTimeAsync(1000)
    // The run that holds it back wakes the dispatcher when it ends.
    expect(s.looks.length).toBe(1)
    expect(s.started).toEqual([])
  })
})

describe('when the store fails', () => {
  it('it reports the error, tries again after a while, and continues', async () => {
    const s = stage(2)
    s.add('a')
    s.fail(2)
    s.dispatcher.open()
    await settle()
    expect(s.errors).toHaveLength(1)
    expect(s.started).toEqual([])
    await vi.advanceTimersByTimeAsync(1000)
    expect(s.errors).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1000)
    expect(s.started).toEqual(['a'])
    expect(s.errors).toMatchObject([{ message: 'database is away' }, { message: 'database is away' }])
  })

  it('it loses no wake that came meanwhile', async () => {
    const s = stage(2)
    const answer = s.holdAnswers()
    s.fail(1)
    s.dispatcher.open()
    await settle()
    s.add('a')
    s.dispatcher.wake()
    answer()
    await settle()
    expect(s.started).toEqual(['a'])
  })
})

describe('limits per agent and per place', () => {
  it('hold back an agent at its limit, and let others pass', async () => {
    const s = stage(4)
    s.queued.push(
      fake({ id: 'a', agent: 'slow' }),
      fake({ id: 'b', agent: 'slow' }),
      fake({ id: 'c', agent: 'slow' }),
      fake({ id: 'd', agent: 'slow' }),
      fake({ id: 'e', agent: 'slow' }),
      fake({ id: 'f' }),
    )
    s.dispatcher.open()
    await settle()
    expect(s.started).toEqual(['a', 'f'])
    s.running.get('a')?.()
    await settle()
    expect(s.started).toEqual(['a', 'f', 'b'])
  })

  it('keep a place to one run, also while that waits for a person', async () => {
    const s = stage(4)
    s.queued.push(
      fake({ id: 'a', place: '/x' }),
      fake({ id: 'b', place: '/x' }),
      fake({ id: 'c', place: '/y' }),
      fake({ id: 'd' }),
      fake({ id: 'e' }),
    )
    s.dispatcher.open()
    await settle()
    expect(s.started).toEqual(['a', 'c', 'd', 'e'])
    s.dispatcher.park('a', true)
    await settle()
    expect(s.started).toHaveLength(4)
    s.running.get('a')?.()
    await settle()
    expect(s.started).toEqual(['a', 'c', 'd', 'e', 'b'])
  })

  it('do not make it look repeatedly while the place is in use', async () => {
    const s = stage(4)
    s.queued.push(fake({ id: 'a', place: '/x' }), fake({ id: 'b', place: '/x' }))
    s.dispatcher.open()
    await settle()
    const looks = s.looks.length
    await vi.advanceTimersByTimeAsync(10_000)
    expect(s.looks.length).toBe(looks)
  })
})
