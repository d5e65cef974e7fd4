/**
 * Decides whether the next cycle of a watch with persistent memory continues in its session or starts a new one. The
 * session is replaced when it is too old, or when two cycles in a row failed or reported nothing. A session that is
 * full is compacted, like every session.
 */
import type { CycleOutcome } from '../../contract/cycle.ts'

export interface MemoryFacts {
  /** The present session; null: none yet. */
  memory: { since: Date; cycles: number } | null
  /** Ended cycles, the newest first. */
  newest: readonly { outcome: CycleOutcome | null; status: string | null }[]
  renewAfterMs: number | null
  renewAfterCycles: number | null
  now: Date
}

export type MemoryDecision = { kind: 'first' } | { kind: 'resume' } | { kind: 'renew'; why: string }

const RENEW_AFTER_MS = 7 * 86_400_000
const RENEW_AFTER_CYCLES = 200
/** After this many cycles in a row without a result, the session is replaced. */
const MAX_WITHOUT_RESULT = 2

export function decideMemory({
  memory,
  newest,
  renewAfterMs,
  renewAfterCycles,
  now,
}: MemoryFacts): MemoryDecision {
  if (memory === null) return { kind: 'first' }
  if (now.getTime() - memory.since.getTime() >= (renewAfterMs ?? RENEW_AFTER_MS)) {
    return { kind: 'renew', why: `its session was started at ${memory.since.toISOString()}` }
  }
  if (memory.cycles >= (renewAfterCycles ?? RENEW_AFTER_CYCLES)) {
    const cycles = memory.cycles === 1 ? '1 cycle' : `${memory.cycles} cycles`
    return { kind: 'renew', why: `its session was used for ${cycles}` }
  }
  const inSession = newest.slice(0, Math.min(MAX_WITHOUT_RESULT, memory.cycles))
  const withoutResult = inSession.filter(({ outcome, status }) => outcome === 'failed' || status === null)
  if (inSession.length === MAX_WITHOUT_RESULT && withoutResult.length === MAX_WITHOUT_RESULT) {
    return {
      kind: 'renew',
      why: `the last ${MAX_WITHOUT_RESULT} cycles in its session failed or reported no status`,
    }
  }
  return { kind: 'resume' }
}
