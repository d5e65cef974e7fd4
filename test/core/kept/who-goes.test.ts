import { expect, test } from 'vitest'
import { type KeptUse, whoGoes } from '../../../src/core/kept/who-goes.ts'

const ENOUGH = { availableBytes: 900, totalBytes: 1000, stalledPercent: 0 }
const LIMITS = { keepMs: 1000, maxProcesses: 2, maxBytes: 250 }
const use = (sinceMs: number, bytes = 100): KeptUse => ({ sinceMs, untilMs: sinceMs + 1000, bytes })
const gone = (kept: KeptUse[], memory = ENOUGH, nowMs = 500) =>
  whoGoes(kept, memory, LIMITS, nowMs).map(({ kept: one }) => one.sinceMs)

test('as many stay as may', () => {
  expect(gone([use(1), use(2)])).toEqual([])
})

test('the least recently used go first if there are too many', () => {
  expect(gone([use(3), use(1), use(4), use(2)])).toEqual([2, 1])
})

test('the least recently used go first if they use too much memory', () => {
  expect(gone([use(1, 100), use(2, 200)])).toEqual([1])
})

test('one that alone uses too much goes', () => {
  expect(gone([use(1, 300)])).toEqual([1])
})

test('those that were kept long enough go, and count no longer', () => {
  expect(gone([use(0), use(600), use(700)], ENOUGH, 1000)).toEqual([0])
})

test.each([
  { ...ENOUGH, availableBytes: 99 },
  { ...ENOUGH, stalledPercent: 11 },
])('all go if the machine is short of memory', (memory) => {
  expect(gone([use(1), use(2)], memory)).toEqual([1, 2])
})
