/**
 * A follow-up that was given to a process which had been kept waiting is fired when the agent has taken it, and not
 * before: what it had not taken when it ended is given to the session in another way. Before a run settles this must be
 * known, because from then on whoever finds a planned one gives it.
 */

import { randomUUID } from 'node:crypto'
import { nextFollowUpTime } from '../../core/schedule/recur.ts'
import type { AttemptRecord, StoredEvent } from '../../store/base/records.ts'
import type { Again } from '../../store/follow-ups/follow-ups.ts'
import type { FollowUpRecord } from '../../store/watches/records.ts'
import { persist } from '../base/persist.ts'
import type { EngineParts } from '../parts.ts'

export async function markTaken(
  parts: EngineParts,
  { id, runId }: Pick<AttemptRecord, 'id' | 'runId'>,
  taken: ReadonlySet<string>,
): Promise<void> {
  if (taken.size === 0) return
  const { store, clock } = parts
  for (const followUp of await store.listPlannedOfRun(runId)) {
    if (!taken.has(followUp.messageId)) continue
    const at = clock.now()
    await persist(parts, () =>
      store.fireFollowUp(followUp, { attempt: { id, runId } }, againAfter(followUp, at), at),
    )
  }
}

export const takenIn = (events: readonly Pick<StoredEvent, 'body'>[]): Set<string> =>
  new Set(events.flatMap(({ body }) => (body.type === 'prompt-accept' ? [body.messageId] : [])))

/** When a recurring one is due next, if it is. */
export function againAfter(followUp: FollowUpRecord, now: Date): Again | null {
  const dueAt = nextFollowUpTime(followUp, now)
  return dueAt && { dueAt, messageId: randomUUID() }
}
