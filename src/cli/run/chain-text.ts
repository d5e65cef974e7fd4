/** A chain of runs as text: one line per run, its findings, actions and refusals, what followed, and the total. */
import type { Chain, ChainRun } from '../../contract/chain.ts'
import type { Escalation, Refusal, Signal } from '../../contract/escalation.ts'
import { startText } from '../../contract/start-text.ts'
import { visible } from '../../contract/visible-text.ts'
import { formatCost, formatDuration } from '../terminal/amounts.ts'
import { firstLine, type Style } from '../terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'
import { stateOf } from './table.ts'

export function chainLines(chain: Chain, style: Style, width: number): string[] {
  const { runs, totals } = chain
  const widths = runs
    .map(cellsOf)
    .reduce((widest, cells) => cells.map((cell, i) => Math.max(cell.length, widest[i] ?? 0)), [] as number[])
  const lines = runs.flatMap((run, index) => {
    const [branch, trunk] = index === runs.length - 1 ? ['└── ', '    '] : ['├── ', '│   ']
    const cells = cellsOf(run).map((cell, i) => cell.padEnd(widths[i] ?? 0))
    return [
      `${branch}${style.safe(cells.join('  ').trimEnd())}`,
      ...detailsOf(run).map((line) => style.dim(`${trunk}  ${style.safe(firstLine(line, width - 6))}`)),
    ]
  })
  const cost = formatCost(totals.costUsd, totals.costEstimated)
  const ended = chain.state === 'ended' ? '' : `  (${chain.state.replaceAll('-', ' ')})`
  return [...lines, `Total: ${cost}  ${formatDuration(totals.durationMs)}${ended}`]
}

/** The report of a tier, as lines. */
export function reportLines({ status, summary, checks, actions, reason }: Signal, dryRun = false): string[] {
  return [
    `${status}: ${summary || reason || 'no summary'}`,
    ...checks.map(({ name, status, finding }) => `  ${status === 'ok' ? 'ok' : status}: ${name}: ${finding}`),
    ...actions.map((action) => `  ${actionText(action, dryRun)}`),
    ...(summary && reason ? [`  ${reason}`] : []),
  ]
}

/** In a dry run nothing was carried out: what the agent says about it is its own claim. */
const actionText = ({ action, outcome }: Signal['actions'][number], dryRun: boolean) =>
  `${dryRun && outcome === 'done' ? 'reported' : outcome}: ${action}`

const cellsOf = (run: ChainRun): string[] => [
  run.id,
  run.tier === null ? '–' : `tier ${run.tier}`,
  run.model ?? run.agent,
  formatCost(run.costUsd, run.costEstimated),
  formatDuration(run.durationMs),
  [
    stateOf(run),
    ...(run.dryRun ? ['dry run'] : []),
    ...(run.resumed ? ['resumed'] : []),
    ...(run.followUpId ? ['follow-up'] : []),
  ].join(', '),
]

const SHOWN = 5

function detailsOf(run: ChainRun): string[] {
  const { escalation, refused, refusals } = run
  const signal = escalation?.recommendation.signal
  const shown = refused.slice(-SHOWN)
  const more = refusals - shown.length
  return [
    ...(run.resumed === false && run.carry === 'handoff' ? [startText(run)] : []),
    ...(signal ? [`${signal.status}: ${signal.summary}`] : []),
    ...(signal?.actions ?? []).map((action) => actionText(action, run.dryRun)),
    ...shown.map(refusalLine),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(escalation ? [whatFollowed(escalation)] : []),
  ]
}

const refusalLine = ({ tool, what, reason, dryRun }: Refusal) =>
  dryRun
    ? `would have done: ${tool === 'Bash' ? '' : `${tool} `}${visible(what)}`
    : reason.includes(what)
      ? `refused: ${reason}`
      : `refused: ${firstLine(visible(what), 60)}: ${reason}`

function whatFollowed({ decision, message, toTier, expiresAt, runId }: Escalation): string {
  if (decision === 'escalate') return `→ tier ${toTier}: ${withLocalTimes(message)}`
  if (decision === 'stop') return `ended: ${withLocalTimes(message)}`
  const until = expiresAt ? ` until ${formatTime(expiresAt)}` : ''
  return `waiting for approval${until}; approve with: reprise runs approve ${runId}`
}
