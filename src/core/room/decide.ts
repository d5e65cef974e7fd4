/**
 * A session that is too full is compacted in place, once per run, before the run gives it up for a fresh one. That
 * takes an attempt of its own, which only makes room.
 *
 * turn (overflowed, or known to be too full) → compact → turn again, in the same session → fresh with a handoff.
 */
import type { OutcomeName } from '../../contract/outcome.ts'

export interface PastAttempt {
  kind: 'turn' | 'compact'
  resumed: boolean
  outcome: OutcomeName | null
}

export type Room =
  /** Nothing is known against the session but what its figures say. */
  | { kind: 'open' }
  /** The last turn overflowed, and nothing has been done about it yet. */
  | { kind: 'overflowed' }
  /** Room was made; the turn is to be asked again, whole: what the session still has of it is uncertain. */
  | { kind: 'made' }
  /** Room was made earlier in this run; it is not made twice. */
  | { kind: 'used' }
  /** Making room failed, or was not enough. */
  | { kind: 'full' }

/** Ends that say nothing about how full the session is: an attempt to make room that ended so is made again. */
const SAYS_NOTHING: readonly (OutcomeName | null)[] = ['outage', 'rate-limited']

export function decideRoom(all: readonly PastAttempt[]): Room {
  const attempts = all.filter(({ outcome }) => !SAYS_NOTHING.includes(outcome))
  const last = attempts.at(-1)
  const at = attempts.findLastIndex((attempt) => attempt.kind === 'compact')
  if (at === -1) {
    return last?.resumed && last.outcome === 'context-overflow' ? { kind: 'overflowed' } : { kind: 'open' }
  }
  if (attempts[at]?.outcome !== 'completed') return { kind: 'full' }
  const since = attempts.slice(at + 1)
  if (since.some((attempt) => attempt.outcome === 'context-overflow')) return { kind: 'full' }
  return since.length === 0 ? { kind: 'made' } : { kind: 'used' }
}
