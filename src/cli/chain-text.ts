/** A chain of runs as lines: a run a line, what was decided after it, what it was refused, and the total. */
import type { Chain, ChainRun } from '../contract/chain.ts'
import { formatCost, formatDuration } from './amounts.ts'
import { stateOf } from './run-table.ts'
import { firstLine, type Style } from './terminal.ts'

export function chainLines(chain: Chain, style: Style): string[] {
  const { runs, totals } = chain
  const widths = runs
    .map(cellsOf)
    .reduce((widest, cells) => cells.map((cell, i) => Math.max(cell.length, widest[i] ?? 0)), [] as number[])
  const lines = runs.flatMap((run, index) => {
    const last = index === runs.length - 1
    const cells = cellsOf(run).map((cell, i) => cell.padEnd(widths[i] ?? 0))
    return [
      `${last ? '└──' : '├──'} ${style.safe(cells.join('  ').trimEnd())}`,
      ...detailsOf(run).map((line) => style.dim(`${last ? '   ' : '│  '}   ${style.safe(line)}`)),
    ]
  })
  const cost = formatCost(totals.costUsd, totals.costEstimated)
  const ended = chain.state === 'ended' ? '' : `  (${chain.state.replaceAll('-', ' ')})`
  return [...lines, `Total: ${cost}  ${formatDuration(totals.durationMs)}${ended}`]
}

const cellsOf = (run: ChainRun): string[] => [
  run.id,
  run.tier === null ? '–' : `tier ${run.tier}`,
  run.model ?? run.agent,
  formatCost(run.costUsd, run.costEstimated),
  formatDuration(run.durationMs),
  stateOf(run),
  run.resumed === null ? '' : run.resumed ? 'resumed' : `fresh (${run.freshReason})`,
]

const SHOWN = 5

function detailsOf({ escalation, refused, refusals, dryRun }: ChainRun): string[] {
  const signal = escalation?.recommendation.signal
  const proposed = refused.filter((one) => one.dryRun)
  const forbidden = refused.filter((one) => !one.dryRun)
  const more = refusals - Math.min(forbidden.length, SHOWN) - Math.min(proposed.length, SHOWN)
  return [
    ...(signal?.summary ? [`${signal.status}: ${firstLine(signal.summary, 200)}`] : []),
    ...forbidden
      .slice(-SHOWN)
      .map((one) => `refused: ${firstLine(one.what, 100)}: ${firstLine(one.reason, 160)}`),
    ...proposed.slice(-SHOWN).map((one) => `would have done: ${firstLine(one.what, 200)}`),
    ...(more > 0 ? [`${more} more ${dryRun ? 'were not done' : 'were refused'}`] : []),
    ...(escalation ? [whatFollowed(escalation)] : []),
  ]
}

function whatFollowed({ decision, message, toTier, expiresAt, runId }: NonNullable<ChainRun['escalation']>) {
  if (decision === 'escalate') return `→ tier ${toTier}: ${firstLine(message, 200)}`
  if (decision === 'stop') return `stopped: ${firstLine(message, 200)}`
  return `waits for approval until ${expiresAt}: reprise runs approve ${runId}`
}
