/**
 * In which session the next cycle of a watch with a persistent memory works: the one it has, or a new one. It is renewed
 * when it has grown old, or when it no longer does its work: two cycles in a row that failed or reported nothing. When
 * it is merely full it is compacted, as every session is.
 */
import type { CycleOutcome } from '../../contract/watch.ts'

export interface MemoryFacts {
  /** The session there is; null: none yet. */
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
/** So many in a row that came to nothing are no bad luck. */
const FRUITLESS = 2

export function decideMemory({
  memory,
  newest,
  renewAfterMs,
  renewAfterCycles,
  now,
}: MemoryFacts): MemoryDecision {
  if (memory === null) return { kind: 'first' }
  if (now.getTime() - memory.since.getTime() >= (renewAfterMs ?? RENEW_AFTER_MS)) {
    return { kind: 'renew', why: `its session was begun at ${memory.since.toISOString()}` }
  }
  if (memory.cycles >= (renewAfterCycles ?? RENEW_AFTER_CYCLES)) {
    const cycles = memory.cycles === 1 ? '1 cycle' : `${memory.cycles} cycles`
    return { kind: 'renew', why: `its session has been through ${cycles}` }
  }
  const inSession = newest.slice(0, Math.min(FRUITLESS, memory.cycles))
  const fruitless = inSession.filter(({ outcome, status }) => outcome === 'failed' || status === null)
  if (inSession.length === FRUITLESS && fruitless.length === FRUITLESS) {
    return { kind: 'renew', why: `the last ${FRUITLESS} cycles in its session came to nothing` }
  }
  return { kind: 'resume' }
}
