/** What the end of a run may bring along for its chain of tiers. */
import type { RunEffect } from '../base/transaction.ts'
import { addEscalation } from './escalations.ts'
import type { TierEnding } from './records.ts'

export interface TierEffects {
  /** What follows from a run at a tier that settles. */
  escalate: (ending: TierEnding) => RunEffect
}

export const tierEffects: TierEffects = {
  escalate: (ending) => (tx) => addEscalation(tx, ending),
}
