/**
 * Decides whether a follow-up can be planned, and when it is due. Agents and people use the same rules; a refusal is a
 * sentence that says what would be accepted.
 *
 * A single follow-up is due at a given time, after a delay, or at the next match of its cron expression. A recurring
 * one is due at each match until it expires: after a week, or when its cycle ends.
 */
import { formatSpan } from '../span.ts'
import { cronTimes, parseCron } from './cron.ts'
import { isTimeZone, machineTimeZone } from './time-zone.ts'

export type FollowUpWish =
  | { cron: string; recurring: boolean; timeZone?: string | undefined }
  | { inMs: number }
  | { at: Date }

export interface FollowUpLimits {
  now: Date
  /** The end of the cycle that the follow-up belongs to; null: none. */
  deadlineAt: Date | null
  maxAheadMs: number
  /** How many planned follow-ups count against `maxPending`. */
  pending: number
  maxPending: number
  /** How long a recurring follow-up lasts; default: a week. */
  latestExpiryMs?: number | undefined
}

export type FollowUpPlan =
  | { ok: true; dueAt: Date; cron: string | null; recurring: boolean; expiresAt: Date | null }
  | { ok: false; reason: string }

const MIN_DELAY_MS = 1000
const WEEK_MS = 7 * 86_400_000

export function planFollowUp(wish: FollowUpWish, limits: FollowUpLimits): FollowUpPlan {
  const { now, pending, maxPending } = limits
  if (pending >= maxPending) {
    return refuse(
      `${pending} follow-ups are pending, and at most ${maxPending} are allowed. Delete one that is not needed, or wait until one has fired.`,
    )
  }
  if ('inMs' in wish) {
    if (!(wish.inMs >= MIN_DELAY_MS)) return refuse('The delay is too short: it must be at least 1 s.')
    return once(new Date(now.getTime() + wish.inMs), null, limits)
  }
  if ('at' in wish) {
    if (Number.isNaN(wish.at.getTime()))
      return refuse('That is not a time. Write one such as 2026-03-01T12:00Z.')
    if (wish.at > now) return once(wish.at, null, limits)
    return refuse(`${show(wish.at)} is in the past: it is ${show(now)}. Choose a later time.`)
  }
  return byCron(wish, limits)
}

function byCron(
  { cron, recurring, timeZone = machineTimeZone() }: Extract<FollowUpWish, { cron: string }>,
  limits: FollowUpLimits,
): FollowUpPlan {
  const { now, deadlineAt, latestExpiryMs = WEEK_MS } = limits
  const parsed = parseCron(cron)
  if (!parsed.ok) return refuse(`The cron expression ${parsed.problem}: ${parsed.hint}.`)
  if (!isTimeZone(timeZone)) {
    return refuse(
      `${JSON.stringify(timeZone)} is not a known time zone: write one such as Europe/Berlin or UTC.`,
    )
  }
  const dueAt = cronTimes(parsed.cron, timeZone)(now)
  if (!dueAt) return refuse(`The cron expression "${parsed.cron}" never occurs: choose a day that exists.`)
  const plan = once(dueAt, parsed.cron, limits)
  if (!plan.ok || !recurring) return plan
  const lastAt = new Date(now.getTime() + latestExpiryMs)
  const expiresAt = deadlineAt && deadlineAt < lastAt ? deadlineAt : lastAt
  if (dueAt < expiresAt) return { ...plan, recurring, expiresAt }
  return refuse(
    `A recurring follow-up ends after ${formatSpan(latestExpiryMs)}, at ${show(expiresAt)}; "${parsed.cron}" first occurs at ${show(dueAt)}. Plan it once, or choose a more frequent expression.`,
  )
}

function once(
  dueAt: Date,
  cron: string | null,
  { now, deadlineAt, maxAheadMs }: FollowUpLimits,
): FollowUpPlan {
  // A due time that was computed from a cron expression is part of the message.
  const due = cron === null ? '' : ` "${cron}" next occurs at ${show(dueAt)}.`
  if (deadlineAt && dueAt >= deadlineAt) {
    return refuse(
      `The cycle ends at ${show(deadlineAt)}; nothing can be scheduled after that.${due} It is ${show(now)}.`,
    )
  }
  if (!(dueAt.getTime() - now.getTime() <= maxAheadMs)) {
    const latest = new Date(now.getTime() + maxAheadMs)
    return refuse(
      `That is too far ahead: at most ${formatSpan(maxAheadMs)}, until ${show(latest)}.${due} It is ${show(now)}.`,
    )
  }
  return { ok: true, dueAt, cron, recurring: false, expiresAt: null }
}

const refuse = (reason: string): FollowUpPlan => ({ ok: false, reason })

const show = (at: Date) => at.toISOString().replace(/\.\d+Z$/, 'Z')
