import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { shareReading } from '../../src/server/base/shared-reading.ts'

test('callers within one turn share a reading that begins after all of them have asked', async () => {
  let state = 'old'
  const begun: string[] = []
  const read = shareReading(async (key: string) => {
    begun.push(key)
    return `${key} ${state}`
  })
  const answers = Array.from({ length: 50 }, () => read('a'))
  const other = read('b')
  state = 'new'
  const last = read('a')
  expect(begun).toEqual([])
  expect(new Set(await Promise.all([...answers, last]))).toEqual(new Set(['a new']))
  expect(await other).toBe('b new')
  expect(begun).toEqual(['a', 'b'])
})

test('a caller never gets a reading that had begun before it asked', async () => {
  const gate = Promise.withResolvers<void>()
  let readings = 0
  const read = shareReading(async (_: null) => {
    const mine = ++readings
    await gate.promise
    return mine
  })
  const first = read(null)
  while (readings === 0) await nextTurn()
  const second = read(null)
  gate.resolve()
  expect(await first).toBe(1)
  expect(await second).toBe(2)
})

test('a reading that fails fails for all who share it, and for nobody after them', async () => {
  let works = false
  const read = shareReading(async (_: null) => {
    if (!works) throw new Error('not now')
    return 'read'
  })
  const both = await Promise.allSettled([read(null), read(null)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  works = true
  expect(await read(null)).toBe('read')
})
