/**
 * What there is to tell of a cycle of a watch:
 *
 *   done       it completed, and all is well, or somebody is left who handles what is not
 *   failed     it failed, or took too long
 *   attention  it waits for approval; or it completed, and what it found is left to a person
 *
 * That it was cancelled is known to whoever did so; that it was skipped, or goes on, is of no interest. A chain that
 * belongs to a cycle is told of here and not by itself: wherever something was decided about it, the cycle as it then
 * is says whether there is anything to tell.
 */
import type { EscalationReason } from '../../contract/escalation.ts'
import { CycleNotice, type NotifyEvent } from '../../contract/notification.ts'
import { cutMiddle, visible } from '../../contract/visible-text.ts'
import { pickFields } from './message.ts'
import { isWell, type Notice } from './plan.ts'

/** null: nothing that people want to be told of. A cycle ends once; a run asks for approval once. */
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

/** It wanted more to be done, or said nothing that one could go by. */
const UNFINISHED: ReadonlySet<EscalationReason> = new Set([
  'no-recommendation',
  'max-tier',
  'cooldown',
  'budget',
  'approval-timeout',
] as const)

function isLeftToPeople({ status, reason, pendingFollowUps }: CycleNotice): boolean {
  // Somebody has looked at it and decided, or it will be looked at again.
  if (reason === 'refused' || pendingFollowUps > 0) return false
  return !isWell(status) || (reason !== null && UNFINISHED.has(reason))
}
