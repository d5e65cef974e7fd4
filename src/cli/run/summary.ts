/** The summary line of a turn: outcome, session, tokens, cost and duration. */
import type { RunDetail } from '../../contract/run.ts'
import { startText } from '../../contract/start-text.ts'
import { formatCost, formatDuration, formatTokens } from '../terminal/amounts.ts'
import type { Style } from '../terminal/terminal.ts'
import { withLocalTimes } from '../terminal/time.ts'
import { stateOf } from './table.ts'

/** One line, preceded by the error message if the turn failed. `uncached` tokens are paid for in full. */
export function summarizeTurn(run: RunDetail, style: Style): string[] {
  const { usage } = run
  const done = run.outcome === 'completed'
  const parts = [
    ...(done ? [] : [stateOf(run)]),
    startText(run),
    ...(run.attemptCount > 1 ? [`${run.attemptCount} attempts`] : []),
    `in ${formatTokens(usage.inputTokens + usage.cacheWriteTokens)} uncached, ${formatTokens(usage.cacheReadTokens)} cached`,
    `out ${formatTokens(usage.outputTokens)}`,
    formatCost(run.costUsd, run.costEstimated),
    formatDuration(run.durationMs),
  ]
  const failed = hasMessage(run) ? [style.red(style.safe(withLocalTimes(run.message ?? '')))] : []
  return [...failed, style.dim(parts.join(' · '))]
}

/** A message that only repeats the outcome is not shown, nor why the run is paused, which was its last event. */
const hasMessage = ({ outcome, message, paused }: RunDetail) =>
  outcome !== 'completed' && !paused && message !== null && message !== '' && message !== outcome
