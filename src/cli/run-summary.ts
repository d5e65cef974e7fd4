/** The last line of a run: how it ended, whether it was resumed, what it took, and how to go on. */
import type { RunDetail } from '../contract/run.ts'
import { formatCost, formatDuration, formatTokens } from './amounts.ts'
import type { Style } from './terminal.ts'

export function summarize(run: RunDetail, style: Style): string[] {
  const { usage } = run
  const parts = [
    run.outcome === 'completed' ? style.green('completed') : style.red(run.outcome ?? run.state),
    sessionPart(run),
    ...(run.attemptCount > 1 ? [`${run.attemptCount} attempts`] : []),
    `${formatTokens(usage.inputTokens)} in, ${formatTokens(usage.outputTokens)} out, cache ${formatTokens(usage.cacheReadTokens)} read, ${formatTokens(usage.cacheWriteTokens)} written`,
    formatCost(run.costUsd, run.costEstimated),
    formatDuration(run.durationMs),
  ]
  const failed = run.outcome !== 'completed' && run.message ? [style.safe(run.message)] : []
  const goOn = run.session ? [style.dim(`go on with: reprise run --session ${run.session} "…"`)] : []
  return [parts.join(' · '), ...failed, ...goOn]
}

function sessionPart({ resumed, freshReason, carry }: RunDetail): string {
  if (resumed === null) return 'not started'
  if (resumed) return 'resumed'
  const carried = carry === null || carry === 'none' ? '' : `, with ${carry}`
  return `fresh (${freshReason ?? 'new'}${carried})`
}
