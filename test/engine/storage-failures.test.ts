import { expect, it } from 'vitest'
import { StorageFailures } from '../../src/engine/base/storage-failures.ts'

const at = new Date('2026-05-01T10:00:00Z')
let ms = 0
const clock = { now: () => at, monotonicMs: () => (ms += 1000) }

it('is one failure from the first refused write to the last, and the newest is remembered', () => {
  const storageFailures = new StorageFailures(clock, () => true)
  expect([storageFailures.current, storageFailures.newest]).toEqual([null, null])
  storageFailures.begin('read-only')
  storageFailures.begin('busy')
  const first = storageFailures.current
  expect(first).toEqual({ since: at, why: 'read-only' })
  storageFailures.end()
  expect(storageFailures.current).toBe(first)
  storageFailures.end()
  expect(storageFailures.current).toBeNull()
  expect(storageFailures.newest).toBe(first)
  storageFailures.begin('busy')
  expect(storageFailures.current).toMatchObject({ why: 'busy' })
})

it('also lasts while there is no room for the output of agents, although no write is refused', () => {
  let room = false
  const storageFailures = new StorageFailures(clock, () => room)
  const full = storageFailures.current
  expect(full).toEqual({ since: at, why: 'the disk is full' })
  expect(storageFailures.current).toBe(full)
  room = true
  expect(storageFailures.current).toBeNull()
  expect(storageFailures.newest).toBe(full)
})
