import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDurationMs, parseSizeBytes } from '../../src/contract/quantity.ts'

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['1.5h', 5_400_000],
    [' 5 s ', 5000],
  ])('%s', (text, ms) => expect(parseDurationMs(text)).toBe(ms))

  test.each(['', '10', 'm', '10 minutes', '-5s', '1e3s', '5s5', '5S', 'toString', '1constructor'])(
    'not %j',
    (text) => expect(parseDurationMs(text)).toBeUndefined(),
  )

  test('any amount in any unit', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom('ms', 's', 'm', 'h', 'd'), (amount, unit) => {
        const one = parseDurationMs(`1${unit}`) ?? Number.NaN
        expect(parseDurationMs(`${amount}${unit}`)).toBe(amount * one)
      }),
    )
  })
})

describe('sizes', () => {
  test.each([
    ['8MiB', 8 * 1024 * 1024],
    ['1GiB', 1024 ** 3],
    ['512KiB', 512 * 1024],
    ['1MB', 1_000_000],
    ['10B', 10],
  ])('%s', (text, bytes) => expect(parseSizeBytes(text)).toBe(bytes))

  test.each(['8', 'MiB', '8mib', '8 Mebibytes', '-1MiB'])('not %j', (text) =>
    expect(parseSizeBytes(text)).toBeUndefined(),
  )
})
