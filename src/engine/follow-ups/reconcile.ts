/**
 * A follow-up that was given to a process which had been kept waiting is fired when the agent has taken it, and not
 * before: what it had not taken when it ended is given to the session in another way. Before a run settles this must be
 * known, because from then on whoever finds a planned one gives it.
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

/** When a recurring one is due next, if it is. */
export function againAfter(followUp: FollowUpRecord, now: Date): Again | null {
  const dueAt = nextFollowUpTime(followUp, now)
  return dueAt && { dueAt, messageId: randomUUID() }
}
