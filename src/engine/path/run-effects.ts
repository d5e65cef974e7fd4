/** What is stored for conversations, tiers and notifications together with the end of an attempt or a run. */
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { RunEffect } from '../../store/base/transaction.ts'
import type { TurnEnding } from '../../store/conversations/records.ts'
import type { RunEffects } from '../../store/store.ts'
import type { TierEnding } from '../../store/tiers/records.ts'

export interface EndEffects {
  turn: TurnEnding | null
  tier: TierEnding | null
  notices: readonly PlannedNotification[]
  /** The notices are about a pause: they are dropped if the pause has become needless. */
  ofPause?: boolean
}

export function effectsOfEnd(
  { endTurn, escalate, notify, notifyOfPause }: RunEffects,
  { turn, tier, notices, ofPause = false }: EndEffects,
): RunEffect[] {
  return [
    ...(turn ? [endTurn(turn)] : []),
    ...(tier ? [escalate(tier)] : []),
    ofPause ? notifyOfPause(notices) : notify(notices),
  ]
}
