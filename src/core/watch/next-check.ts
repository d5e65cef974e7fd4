/**
 * Decides when a watch with `everyWhileNotHealthy` is due after one of its cycles has ended.
 *
 *   well       it completed and reported `healthy` or `fixed`
 *   not well   it completed with any other status or none, failed, or reached its time limit
 *   (neither)  it was cancelled or skipped, which says nothing: the result before it stands
 *
 * After a cycle that was not well, the next one is due after the shorter interval, counted from when the cycle was due; the
 * regular time stands if it is earlier. Firing stores the regular time that follows (schedule.ts), so a watch that is well
 * again is back at its schedule. Only if it becomes well by a cycle outside of the schedule, the early time is replaced.
 */
import type { CycleOutcome, Trigger } from '../../contract/cycle.ts'
import { isWell } from '../notify/plan.ts'
import { type Due, nextDue, type Schedule } from '../schedule/schedule.ts'

interface Result {
  outcome: CycleOutcome | null
  status: string | null
}

/** null: the result says nothing about what is watched. */
function endedWell({ outcome, status }: Result): boolean | null {
  if (outcome === null || outcome === 'cancelled') return null
  return outcome === 'completed' && isWell(status)
}

export interface NextCheckFacts {
  schedule: Schedule
  everyWhileNotHealthyMs: number
  jitterMs: number
  /** The next firing as it is stored. */
  due: Date
  ended: Result & { dueAt: Date; trigger: Trigger }
  /** Cycles that ended before, the newest first. */
  before: readonly Result[]
  now: Date
  /** In [0, 1). */
  random: number
}

/** null: the stored time stands. */
export function decideNextCheck(facts: NextCheckFacts): Due | null {
  const { schedule, everyWhileNotHealthyMs, jitterMs, due, ended, before, now, random } = facts
  const well = endedWell(ended)
  if (well === null) return null
  const wasWell = before.map(endedWell).find((one) => one !== null) ?? true
  if (well && (wasWell || ended.trigger === 'schedule' || ended.trigger === 'catch-up')) return null
  const interval: Schedule = well ? schedule : { kind: 'every', everyMs: everyWhileNotHealthyMs }
  const { dueAt, fireAt } = nextDue(interval, { dueAt: ended.dueAt, now, jitterMs, random })
  return (well ? dueAt > due : dueAt < due) ? { dueAt, fireAt } : null
}
