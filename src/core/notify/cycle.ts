/**
 * Decides whether a cycle of a watch is worth a notification:
 *
 *   done       the cycle completed, and nothing is left for a person to do
 *   failed     the cycle failed or timed out
 *   attention  the cycle waits for approval, or it completed with a problem that only a person can handle
 *
 * Cancelled, skipped and unfinished cycles cause no notification. A chain that belongs to a cycle causes none of its
 * own: after each decision about the chain, the state of the cycle is checked instead.
 */
import type { EscalationReason } from '../../contract/escalation.ts'
import { CycleNotice, type NotifyEvent } from '../../contract/notification.ts'
import { cutMiddle, visible } from '../../contract/visible-text.ts'
import { pickFields } from './message.ts'
import { isWell, type Notice } from './plan.ts'

/** null: no notification. A cycle has one notice for its end and one for each run that asks for approval. */
export function noticeOfCycle(cycle: CycleNotice): Notice | null {
  const event = eventOf(cycle)
  if (!event) return null
  const whereAll = cycle.rootRunId ? `reprise runs chain ${cycle.rootRunId}` : `GET /api/cycles/${cycle.id}`
  const asks = cycle.state === 'ended' ? null : cycle.approval
  return {
    event,
    subject: { kind: 'cycle', id: cycle.id },
    occurrence: asks ? `${asks.runId} approval-needed` : 'ended',
    payload: {
      ...pickFields<CycleNotice>(CycleNotice.shape, cycle, {}),
      message: cycle.message === null ? null : cutMiddle(visible(cycle.message), 8000, whereAll),
      summary: cycle.summary === null ? null : cutMiddle(visible(cycle.summary), 8000, whereAll),
    },
  }
}

function eventOf(cycle: CycleNotice): NotifyEvent | null {
  const { state, outcome, approval } = cycle
  if (state !== 'ended') return approval ? 'attention' : null
  switch (outcome) {
    case 'completed':
      return isLeftToPeople(cycle) ? 'attention' : 'done'
    case 'failed':
    case 'timed-out':
      return 'failed'
    default:
      return null
  }
}

/** The chain stopped although more needs to be done, or gave no recommendation. */
const UNFINISHED: ReadonlySet<EscalationReason> = new Set([
  'no-recommendation',
  'max-tier',
  'cooldown',
  'budget',
  'approval-timeout',
] as const)

function isLeftToPeople({ status, reason, pendingFollowUps }: CycleNotice): boolean {
  // A person has decided already, or a follow-up will check again.
  if (reason === 'refused' || pendingFollowUps > 0) return false
  return !isWell(status) || (reason !== null && UNFINISHED.has(reason))
}
