/** The last line of a turn: how it ended, whether it was resumed, what it took. */
import type { RunDetail } from '../../contract/run.ts'
import { formatCost, formatDuration, formatTokens } from '../terminal/amounts.ts'
import type { Style } from '../terminal/terminal.ts'

/** One line, and another if something went wrong. What is not read from the cache was paid for in full. */
export function summarizeTurn(run: RunDetail, style: Style): string[] {
  const { usage } = run
  const done = run.outcome === 'completed'
  const parts = [
    ...(done ? [] : [run.outcome ?? run.state]),
    sessionPart(run),
    ...(run.attemptCount > 1 ? [`${run.attemptCount} attempts`] : []),
    `in ${formatTokens(usage.inputTokens + usage.cacheWriteTokens)} uncached, ${formatTokens(usage.cacheReadTokens)} cached`,
    `out ${formatTokens(usage.outputTokens)}`,
    formatCost(run.costUsd, run.costEstimated),
    formatDuration(run.durationMs),
  ]
  const failed = sayWhy(run) ? [style.red(style.safe(run.message ?? ''))] : []
  return [...failed, style.dim(parts.join(' · '))]
}

/** `cancelled: cancelled` says nothing. */
const sayWhy = ({ outcome, message }: RunDetail) =>
  outcome !== 'completed' && message !== null && message !== '' && message !== outcome

/** How its newest attempt started. */
export function sessionPart({ resumed, freshReason, carry }: RunDetail): string {
  if (resumed === null) return 'not started'
  if (resumed) return 'resumed'
  const carried = carry === null || carry === 'none' ? '' : `, with ${carry}`
  return `fresh (${freshReason ?? 'new'}${carried})`
}
