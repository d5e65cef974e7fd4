/** Which session a watch with persistent memory uses. */
import { expect, it } from 'vitest'
import { decideMemory, type MemoryFacts } from '../../../src/core/watch/memory.ts'

const NOW = new Date('2026-03-08T12:00:00Z')
const ago = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000)
const well = { outcome: 'completed', status: 'healthy' } as const
const silent = { outcome: 'completed', status: null } as const
const failed = { outcome: 'failed', status: 'down' } as const

const decide = (change: Partial<MemoryFacts> = {}) =>
  decideMemory({
    memory: { since: ago(1), cycles: 9 },
    newest: [well, well, well],
    renewAfterMs: null,
    renewAfterCycles: null,
    now: NOW,
    ...change,
  })
const why = (change: Partial<MemoryFacts>) => {
  const decision = decide(change)
  return decision.kind === 'renew' ? decision.why : decision.kind
}

it('begins with a session of its own, whatever came before', () => {
  expect(decide({ memory: null, newest: [failed, failed] })).toEqual({ kind: 'first' })
})

it('continues in its session while it gets results', () => {
  expect(decide()).toEqual({ kind: 'resume' })
  expect(decide({ newest: [{ outcome: 'timed-out', status: 'degraded' }, failed] })).toEqual({
    kind: 'resume',
  })
})

it('starts a new session after a week, or after the configured time, and says since when', () => {
  const since = (hours: number, renewAfterMs: number | null = null) =>
    why({ memory: { since: ago(hours), cycles: 1 }, renewAfterMs })
  expect(since(7 * 24 - 1)).toBe('resume')
  expect(since(7 * 24)).toBe('its session was started at 2026-03-01T12:00:00.000Z')
  expect(since(2, 2 * 3_600_000)).toContain('started at')
  expect(since(1, 2 * 3_600_000)).toBe('resume')
  expect(since(9 * 24, 30 * 86_400_000)).toBe('resume')
})

it('starts a new session after 200 cycles, or after the configured number, and says how many', () => {
  const after = (cycles: number, renewAfterCycles: number | null = null) =>
    why({ memory: { since: ago(1), cycles }, renewAfterCycles })
  expect(after(199)).toBe('resume')
  expect(after(200)).toBe('its session was used for 200 cycles')
  expect(after(1, 1)).toBe('its session was used for 1 cycle')
  expect(after(500, 501)).toBe('resume')
})

it.each([
  ['failed', [failed, failed]],
  ['said nothing', [silent, silent]],
  ['did either', [silent, failed, well]],
])('starts a new session after two in a row that %s', (_, newest) => {
  expect(why({ newest })).toContain('failed or reported no status')
})

it('keeps the session after a single cycle without a result', () => {
  expect(decide({ newest: [failed, well, failed] })).toEqual({ kind: 'resume' })
  expect(decide({ newest: [failed] })).toEqual({ kind: 'resume' })
})

it('does not count failures of the session before', () => {
  expect(decide({ memory: { since: ago(1), cycles: 1 }, newest: [failed, failed] })).toEqual({
    kind: 'resume',
  })
})
