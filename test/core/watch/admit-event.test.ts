import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WatchEvent } from '../../../src/contract/cycle.ts'
import { admitEvents, type EventFacts, type KnownEvent } from '../../../src/core/watch/admit-event.ts'
import { checkProperty } from '../random.ts'

const T0 = Date.parse('2026-03-01T12:00:00Z')
const at = (ms: number) => new Date(T0 + ms)
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const event = (fingerprint: string): WatchEvent => ({
  fingerprint,
  title: fingerprint,
  receivedAt: at(0).toISOString(),
  payload: null,
})
const [a, b, c] = ['a', 'b', 'c'].map(event) as [WatchEvent, WatchEvent, WatchEvent]

const LIMITS = { eventsPerHour: 3, dedupeMs: 10 * MINUTE, maxEventsPerCycle: 5 }

const admit = (change: Partial<EventFacts>) =>
  admitEvents({
    firing: [a],
    known: new Map(),
    openCycle: false,
    queuedCycle: null,
    recentStarts: [],
    limits: LIMITS,
    now: at(0),
    ...change,
  })

const knownAs = (change: Partial<KnownEvent>): ReadonlyMap<string, KnownEvent> =>
  new Map([['a', { at: at(0), resolvedAt: null, cycleOpen: false, ...change }]])

describe('a new event', () => {
  it('starts a cycle', () => {
    expect(admit({})).toEqual({ kind: 'start', events: [a] })
  })

  it('is queued behind an open one', () => {
    expect(admit({ openCycle: true })).toEqual({ kind: 'queue', events: [a] })
  })

  it('goes into one that is queued already, whether another is open or not', () => {
    for (const openCycle of [true, false]) {
      expect(admit({ openCycle, queuedCycle: { eventCount: 1 } })).toEqual({ kind: 'merge', events: [a] })
    }
  })

  it('comes with others in one cycle; sent twice at once it is one', () => {
    expect(admit({ firing: [a, b, a, c] })).toEqual({ kind: 'start', events: [a, b, c] })
  })

  it('is taken without those that are known', () => {
    const known = knownAs({ cycleOpen: true })
    expect(admit({ firing: [a, b], known, openCycle: true })).toEqual({ kind: 'queue', events: [b] })
  })
})

describe('an event is known', () => {
  it('while its cycle is open or queued, however old it is, and resolved or not', () => {
    const known = knownAs({ cycleOpen: true, resolvedAt: at(1) })
    expect(admit({ known, openCycle: true, now: at(30 * HOUR) })).toEqual({ kind: 'known' })
  })

  it('for dedupeMs after it was taken, to the millisecond', () => {
    expect(admit({ known: knownAs({}), now: at(10 * MINUTE - 1) })).toEqual({ kind: 'known' })
    expect(admit({ known: knownAs({}), now: at(10 * MINUTE) })).toEqual({ kind: 'start', events: [a] })
    expect(admit({ known: knownAs({}), now: at(-5) }), 'on a clock that was set back').toEqual({
      kind: 'known',
    })
    const limits = { ...LIMITS, dedupeMs: 0 }
    expect(admit({ known: knownAs({}), limits })).toEqual({ kind: 'start', events: [a] })
  })

  it('unless it was resolved since', () => {
    expect(admit({ known: knownAs({ resolvedAt: at(0) }), now: at(1) })).toMatchObject({ kind: 'start' })
    expect(admit({ known: knownAs({ resolvedAt: at(-1) }), now: at(1) })).toEqual({ kind: 'known' })
  })

  it('also if there is nothing that fires, or no room for more', () => {
    expect(admit({ firing: [] })).toEqual({ kind: 'known' })
    const full = { recentStarts: [at(0), at(0), at(0)], queuedCycle: { eventCount: 5 } }
    expect(admit({ known: knownAs({}), ...full })).toEqual({ kind: 'known' })
  })
})

describe('limits', () => {
  it('a number of cycles within an hour; then it says how long to wait, to the millisecond', () => {
    const recentStarts = [at(0), at(20 * MINUTE), at(50 * MINUTE)]
    for (const openCycle of [true, false]) {
      expect(admit({ recentStarts, openCycle, now: at(55 * MINUTE) })).toEqual({
        kind: 'limited',
        retryAfterMs: 5 * MINUTE,
      })
      expect(admit({ recentStarts, openCycle, now: at(HOUR - 1) })).toEqual({
        kind: 'limited',
        retryAfterMs: 1,
      })
      expect(admit({ recentStarts, openCycle, now: at(HOUR) }).kind).toBe(openCycle ? 'queue' : 'start')
    }
  })

  it('more of them than allowed, as after a change of the limit: until enough are over', () => {
    const recentStarts = [at(40 * MINUTE), at(0), at(30 * MINUTE), at(10 * MINUTE)]
    const limits = { ...LIMITS, eventsPerHour: 1 }
    expect(admit({ recentStarts, limits, now: at(45 * MINUTE) })).toEqual({
      kind: 'limited',
      retryAfterMs: 55 * MINUTE,
    })
  })

  it('after the clock was set back, the wait is at most an hour', () => {
    const recentStarts = [at(9 * HOUR), at(9 * HOUR), at(9 * HOUR)]
    expect(admit({ recentStarts })).toEqual({ kind: 'limited', retryAfterMs: HOUR })
  })

  it('merging does not count, up to the limit of a cycle', () => {
    const recentStarts = [at(0), at(0), at(0)]
    const merge = (eventCount: number) =>
      admit({ firing: [a, b], recentStarts, openCycle: true, queuedCycle: { eventCount } })
    expect(merge(3)).toEqual({ kind: 'merge', events: [a, b] })
    expect(merge(4)).toEqual({ kind: 'limited', retryAfterMs: MINUTE })
    expect(merge(9)).toEqual({ kind: 'limited', retryAfterMs: MINUTE })
  })

  it('one payload is never split', () => {
    const firing = Array.from({ length: 9 }, (_, n) => event(`${n}`))
    expect(admit({ firing })).toEqual({ kind: 'start', events: firing })
  })
})

/** A model of a watch that carries out the decisions, one payload at a time. */
class Watch {
  now = 0
  open: string[] | null = null
  queued: string[] | null = null
  readonly cycles: { at: number; events: string[] }[] = []
  readonly #known = new Map<string, { at: Date; resolvedAt: Date | null }>()
  readonly limits: EventFacts['limits']

  constructor(limits: EventFacts['limits']) {
    this.limits = limits
  }

  send(firing: readonly WatchEvent[]): string {
    const decision = admitEvents({
      firing,
      known: new Map(
        [...this.#known].map(([fingerprint, event]) => {
          const cycleOpen = [...(this.open ?? []), ...(this.queued ?? [])].includes(fingerprint)
          return [fingerprint, { ...event, cycleOpen }]
        }),
      ),
      openCycle: this.open !== null,
      queuedCycle: this.queued && { eventCount: this.queued.length },
      recentStarts: this.cycles.map((cycle) => at(cycle.at)),
      limits: this.limits,
      now: at(this.now),
    })
    if ('events' in decision) this.#take(decision)
    return decision.kind
  }

  #take({ kind, events }: { kind: 'start' | 'queue' | 'merge'; events: WatchEvent[] }): void {
    const fingerprints = events.map(({ fingerprint }) => fingerprint)
    for (const fingerprint of fingerprints) {
      this.#known.set(fingerprint, { at: at(this.now), resolvedAt: null })
    }
    if (kind === 'merge') {
      this.queued?.push(...fingerprints)
      return
    }
    expect(kind === 'start' ? this.open : this.queued, kind).toBeNull()
    this[kind === 'start' ? 'open' : 'queued'] = fingerprints
    this.cycles.push({ at: this.now, events: fingerprints })
  }

  resolve(fingerprint: string): void {
    const event = this.#known.get(fingerprint)
    if (event) event.resolvedAt = at(this.now)
  }

  endCycle(): void {
    this.open = this.queued
    this.queued = null
  }
}

describe('in any interleaving', () => {
  it('a hundred equal events, before, while and after a cycle is open, make one cycle', () => {
    const others = fc.constantFrom('send', 'send', 'other', 'end', 'wait')
    checkProperty(
      fc.property(fc.array(others, { minLength: 100, maxLength: 300 }), fc.boolean(), (steps, busy) => {
        const watch = new Watch({ eventsPerHour: 1000, dedupeMs: 1000 * MINUTE, maxEventsPerCycle: 1000 })
        if (busy) watch.send([event('before')])
        const sends = Array.from({ length: 100 }, () => 'send')
        for (const [index, step] of [...steps, ...sends].entries()) {
          if (step === 'send') watch.send([a])
          if (step === 'other') watch.send([event(`other ${index}`), a])
          if (step === 'end') watch.endCycle()
          if (step === 'wait') watch.now += MINUTE
        }
        expect(watch.cycles.flatMap(({ events }) => events).filter((f) => f === 'a')).toHaveLength(1)
      }),
    )
  })

  it('no hour has more cycles than allowed, none has too many events, and each event that was taken is in one', () => {
    const step = fc.oneof(
      fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 4 }),
      fc.constant('end' as const),
      fc.record({ waitMs: fc.integer({ min: 0, max: HOUR }) }),
      fc.record({ resolve: fc.integer({ min: 0, max: 9 }) }),
    )
    checkProperty(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const watch = new Watch(LIMITS)
        for (const done of steps) {
          if (done === 'end') watch.endCycle()
          else if (Array.isArray(done)) watch.send(done.map((n) => event(`${n}`)))
          else if ('waitMs' in done) watch.now += done.waitMs
          else watch.resolve(`${done.resolve}`)
          const held = [...(watch.open ?? []), ...(watch.queued ?? [])]
          expect(new Set(held).size).toBe(held.length)
        }
        for (const { at: start, events } of watch.cycles) {
          const within = watch.cycles.filter((other) => other.at >= start && other.at < start + HOUR)
          expect(within.length).toBeLessThanOrEqual(LIMITS.eventsPerHour)
          expect(events.length).toBeLessThanOrEqual(LIMITS.maxEventsPerCycle)
        }
      }),
    )
  })
})
