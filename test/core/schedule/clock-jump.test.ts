import { expect, test } from 'vitest'
import { jumpOf } from '../../../src/core/schedule/clock-jump.ts'

const previous = { wall: new Date('2026-05-04T10:00:00Z'), monotonicMs: 1000.25 }

test.each([
  ['not at all', '2026-05-04T10:01:00Z', 61_000.25, 0],
  ['a little', '2026-05-04T10:01:04.999Z', 61_000.25, 0],
  ['a little back', '2026-05-04T10:00:55.001Z', 61_000.25, 0],
  ['forward', '2026-05-04T10:01:05Z', 61_000.25, 5000],
  ['forward an hour', '2026-05-04T11:01:00Z', 61_000.25, 3_600_000],
  ['back', '2026-05-04T09:01:00Z', 61_000.25, -3_600_000],
  ['back, and nothing passed', '2026-05-04T09:59:55Z', 1000.25, -5000],
])('%s', (_, wall, monotonicMs, jump) => {
  expect(jumpOf(previous, { wall: new Date(wall), monotonicMs })).toBe(jump)
})
