/** When the alarm calls its look. Timers are fake; the clock that the alarm reads moves with them. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Alarm } from '../../src/engine/base/alarm.ts'

const T0 = Date.parse('2026-03-01T12:00:00Z')
let setByMs = 0
let looks: number[]
let errors: string[]
let alarm: Alarm
/** The results of the next looks; the last one is repeated. */
let answers: (() => Promise<Date | null>)[]

const clock = { now: () => new Date(Date.now() + setByMs), monotonicMs: () => Date.now() }
const at = (seconds: number) => new Date(T0 + seconds * 1000)
const wait = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)
const seconds = () => looks.map((ms) => (ms - T0) / 1000)

beforeEach(() => {
  vi.useFakeTimers({ now: T0 })
  setByMs = 0
  looks = []
  errors = []
  answers = [async () => null]
  alarm = new Alarm({
    clock,
    log: { info: () => {}, warn: () => {}, error: (fields) => void errors.push(JSON.stringify(fields)) },
    name: 'it',
    look: () => {
      looks.push(Date.now())
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      return answer!()
    },
  })
})
afterEach(async () => {
  await alarm.close()
  vi.useRealTimers()
})

it('looks when woken, and not again by itself if the look returns no time', async () => {
  alarm.wake()
  await wait(3600)
  expect(seconds()).toEqual([0])
})

it('looks again at the time that the look returned', async () => {
  answers = [async () => at(12), async () => null]
  alarm.wake()
  await wait(11.999)
  expect(seconds()).toEqual([0])
  await wait(0.001)
  expect(seconds()).toEqual([0, 12])
  await wait(3600)
  expect(looks).toHaveLength(2)
})

it('looks repeatedly before a distant time, because the clock may be set meanwhile', async () => {
  answers = [async () => at(3600)]
  alarm.wake()
  await wait(90)
  expect(seconds()).toEqual([0, 30, 60, 90])
})

it('does not spin on a time in the past', async () => {
  answers = [async () => at(-60)]
  alarm.wake()
  await wait(0.01)
  expect(looks.length).toBeGreaterThan(1)
  expect(looks.length).toBeLessThanOrEqual(11)
})

it('looks once more for all wakes during a look, one look at a time', async () => {
  const slow = Promise.withResolvers<null>()
  answers = [() => slow.promise, async () => null]
  alarm.wake()
  for (let i = 0; i < 5; i++) alarm.wake()
  await wait(10)
  expect(looks).toHaveLength(1)
  slow.resolve(null)
  await vi.waitFor(() => expect(looks.length).toBeGreaterThan(1), { timeout: 60_000 })
  await wait(10)
  expect(looks).toHaveLength(2)
})

it('woken before its time, it uses the time of the newer look', async () => {
  answers = [async () => at(20), async () => at(25), async () => null]
  alarm.wake()
  await wait(5)
  alarm.wake()
  await wait(100)
  expect(seconds()).toEqual([0, 5, 25])
})

it('logs a look that fails, and looks again soon', async () => {
  answers = [() => Promise.reject(new Error('out of order')), async () => null]
  alarm.wake()
  await wait(100)
  expect(seconds()).toEqual([0, 1])
  expect(errors).toEqual([expect.stringContaining('out of order')])
})

it('waits for the current look when it is closed, and looks no more', async () => {
  const slow = Promise.withResolvers<Date>()
  answers = [() => slow.promise]
  alarm.wake()
  await wait(1)
  let closed = false
  const closing = alarm.close().then(() => {
    closed = true
  })
  alarm.wake()
  await wait(1)
  expect(closed).toBe(false)
  slow.resolve(at(5))
  await closing
  alarm.wake()
  await wait(100)
  expect(looks).toHaveLength(1)
})
