/**
 * A follow-up that was sent to a kept process counts as fired when the agent has accepted it, not before. A follow-up
 * that was not accepted before the process ended is fired as a run of its own. This must be recorded before the run
 * settles, because from then on the timetable fires every follow-up that is still planned.
 */

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { nextFollowUpTime } from '../../core/schedule/recur.ts'
import type { Again } from '../../store/follow-ups/follow-ups.ts'
import type { FollowUpRecord } from '../../store/follow-ups/records.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { Store } from '../../store/store.ts'
import type { Persist } from '../base/persist.ts'

export interface TakenDeps {
  store: Pick<Store, 'listPlannedOfRun' | 'fireFollowUp'>
  clock: Clock
  persist: Persist
}

export async function markTaken(
  { store, clock, persist }: TakenDeps,
  { id, runId }: Pick<AttemptRecord, 'id' | 'runId'>,
  taken: ReadonlySet<string>,
): Promise<void> {
  if (taken.size === 0) return
  for (const followUp of await store.listPlannedOfRun(runId)) {
    if (!taken.has(followUp.messageId)) continue
    const at = clock.now()
    await persist(() =>
      store.fireFollowUp(followUp, { attempt: { id, runId } }, againAfter(followUp, at), at),
    )
  }
}

/** When a recurring follow-up is due next; null if it does not recur. */
export function againAfter(followUp: FollowUpRecord, now: Date): Again | null {
  const dueAt = nextFollowUpTime(followUp, now)
  return dueAt && { dueAt, messageId: randomUUID() }
}
