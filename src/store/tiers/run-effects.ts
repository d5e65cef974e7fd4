/** The effects that the end of a run may have on its chain of tiers. */
import type { RunEffect } from '../base/transaction.ts'
import { addEscalation } from './escalations.ts'
import type { TierEnding } from './records.ts'

export interface TierEffects {
  /** Stores what follows from a settled run at a tier. */
  escalate: (ending: TierEnding) => RunEffect
}

export const tierEffects: TierEffects = {
  escalate: (ending) => (tx) => addEscalation(tx, ending),
}
