/**
 * Decides what to do about a session that is too full. It is compacted once per run, by a separate attempt, before the
 * run starts a new session.
 *
 * turn (overflowed, or known to be too full) → compact → turn again in the same session → new session with a handoff.
 */
import type { OutcomeName } from '../../contract/outcome.ts'

export interface PastAttempt {
  kind: 'turn' | 'compact'
  resumed: boolean
  outcome: OutcomeName | null
}

export type Room =
  /** No attempt has overflowed; the token counts decide whether the session is too full. */
  | { kind: 'open' }
  /** The last turn overflowed, and the session was not compacted yet. */
  | { kind: 'overflowed' }
  /**
   * The session was compacted. The whole turn must be asked again, because it is uncertain what the session kept of it.
   */
  | { kind: 'made' }
  /** The session was compacted earlier in this run, which happens only once. */
  | { kind: 'used' }
  /** The compaction failed, or was not enough. */
  | { kind: 'full' }

/** Outcomes that say nothing about how full the session is. A compaction with such an outcome is repeated. */
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
