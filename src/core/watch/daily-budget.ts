/** Decides what a watch may still spend today, over all of its cycles and their follow-ups. */
import { dayOf } from '../schedule/day.ts'

export type DailyBudget =
  | { kind: 'left'; usd: number }
  /** No cycle starts before `until`. */
  | { kind: 'used-up'; until: Date; message: string }

export function decideDailyBudget(
  { limitUsd, spentUsd, timeZone }: { limitUsd: number; spentUsd: number; timeZone: string },
  now: Date,
): DailyBudget {
  const usd = limitUsd - spentUsd
  if (usd > 0) return { kind: 'left', usd }
  const until = dayOf(now, timeZone).endsAt
  return {
    kind: 'used-up',
    until,
    message: `${USED_UP} ($${spentUsd.toFixed(2)} of $${limitUsd.toFixed(2)} spent); the watch continues at ${until.toISOString()}`,
  }
}

const USED_UP = 'its budget for today is used up'

/**
 * Whether a cycle of the day that ends at `until` ended for this reason. Only the first one per day causes a
 * notification.
 */
export const endedByDailyBudget = (message: string | null, until: Date) =>
  message?.startsWith(USED_UP) === true && message.endsWith(until.toISOString())
