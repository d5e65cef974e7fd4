import { expect, it } from 'vitest'
import { Outages } from '../../src/engine/outages.ts'

const at = new Date('2026-05-01T10:00:00Z')
let ms = 0
const clock = { now: () => at, monotonicMs: () => (ms += 1000) }

it('is one outage from the first refusal to the last, and the newest is remembered', () => {
  const outages = new Outages(clock, () => true)
  expect([outages.current, outages.newest]).toEqual([null, null])
  outages.begin('read-only')
  outages.begin('busy')
  const first = outages.current
  expect(first).toEqual({ since: at, why: 'read-only' })
  outages.end()
  expect(outages.current).toBe(first)
  outages.end()
  expect(outages.current).toBeNull()
  expect(outages.newest).toBe(first)
  outages.begin('busy')
  expect(outages.current).toMatchObject({ why: 'busy' })
})

it('is one while there is no room for what agents print, though nothing of ours is refused', () => {
  let room = false
  const outages = new Outages(clock, () => room)
  const full = outages.current
  expect(full).toEqual({ since: at, why: 'the disk is full' })
  expect(outages.current).toBe(full)
  room = true
  expect(outages.current).toBeNull()
  expect(outages.newest).toBe(full)
})
