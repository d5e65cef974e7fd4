/** Follow-ups as text: their due time or result, and who created them. */
import type { FollowUp } from '../../contract/follow-up.ts'
import { count, formatDistance } from '../terminal/amounts.ts'
import type { Table } from '../terminal/print-page.ts'
import { firstLine } from '../terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'

const BY = { agent: 'the agent', person: 'a person' } as const

export function followUpRows(followUps: readonly FollowUp[], now: Date): Table {
  return {
    headings: ['ID', 'STATE', 'DUE', 'BY', 'RUN', 'PROMPT'],
    rows: followUps.map((one) => [
      one.id,
      one.recurring && one.state === 'planned' ? 'recurring' : one.state,
      one.state === 'planned' ? formatDistance(one.dueAt, now) : formatTime(one.firedAt ?? one.dueAt, now),
      one.createdBy,
      one.runId ?? '–',
      firstLine(one.prompt, 200),
    ]),
  }
}

/** One line with id and prompt. */
export function followUpText(followUp: FollowUp, now: Date): string {
  const by = `created by ${BY[followUp.createdBy]}`
  return `${followUp.id} ${fateOf(followUp, now)}, ${by}: ${firstLine(followUp.prompt, 80)}`
}

/** When it is due, or what happened to it. */
export function fateOf(followUp: FollowUp, now: Date): string {
  const { state, dueAt, firedAt, firedRunId, cancelledBy, message } = followUp
  const why = message ? ` (${withLocalTimes(firstLine(message, 200), now)})` : ''
  switch (state) {
    case 'planned':
      return `planned for ${formatTime(dueAt, now)} (${formatDistance(dueAt, now)})${againOf(followUp)}`
    case 'fired':
      return `fired ${formatTime(firedAt ?? dueAt, now)}${firedRunId ? ` in ${firedRunId}` : ''}${why}`
    case 'missed':
      return `missed, was due ${formatTime(dueAt, now)}${why}`
    case 'cancelled':
      return `cancelled${cancelledBy ? ` by ${BY[cancelledBy]}` : ''}${why}`
  }
}

function againOf({ recurring, cron, firedCount }: FollowUp): string {
  if (!recurring) return ''
  return `, recurring${cron ? ` (${cron})` : ''}, fired ${count(firedCount, 'time')}`
}

export function describeFollowUp(followUp: FollowUp, now: Date): string[] {
  const { runId, session, cycleId, tier, cron, expiresAt, reason } = followUp
  const fields: [string, string | null][] = [
    ['follow-up', followUp.id],
    ['state', fateOf(followUp, now)],
    ['created by', `${BY[followUp.createdBy]}, ${formatTime(followUp.createdAt, now)}`],
    ['reason', reason],
    ['run', runId],
    ['session', session],
    ['cycle', cycleId],
    ['tier', tier === null ? null : String(tier)],
    ['cron', cron],
    ['until', expiresAt === null ? null : formatTime(expiresAt, now)],
    ['prompt', firstLine(followUp.prompt, 400)],
  ]
  return fields.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(10)} ${value}`]))
}
