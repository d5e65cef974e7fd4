import { cronTimes } from './cron.ts'
import { machineTimeZone } from './time-zone.ts'

/** When a recurring follow-up is due next after `now`; null: never again. Missed times are not caught up. */
export function nextFollowUpTime(
  followUp: { cron: string | null; timeZone: string | null; recurring: boolean; expiresAt: Date | null },
  now: Date,
): Date | null {
  const { cron, timeZone, recurring, expiresAt } = followUp
  if (!recurring || cron === null) return null
  const next = cronTimes(cron, timeZone ?? machineTimeZone())(now)
  return next && (expiresAt === null || next < expiresAt) ? next : null
}
