/** One run, as a page. */
import type { Client } from '../../client/client.ts'
import type { CacheUse } from '../../contract/cache.ts'
import type { PendingQuestion, RunDetail } from '../../contract/run.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { followUpText } from '../follow-ups/text.ts'
import { formatCost, formatDuration, formatTokens } from '../terminal/amounts.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
import { describeAsk } from './ask-text.ts'
import { leftOutLines, leftOutText } from './left-out-text.ts'
import { stateOf } from './table.ts'

export async function showRun(client: Client, id: string, context: CliContext): Promise<void> {
  const run = await client.getRun(id)
  if (context.json) return printJson(context, run)
  const style = styleFor(context.stdout, context.env)
  for (const line of describeRun(run, new Date())) await printLine(context, style.safe(line))
}

export function describeRun(run: RunDetail, now: Date): string[] {
  const { usage } = run
  const session = run.session ? `${run.session} (${run.sessionId})` : '–'
  const start =
    run.resumed === null ? '–' : run.resumed ? 'resumed' : `fresh: ${run.freshReason}, carry ${run.carry}`
  const context =
    run.contextTokens === null
      ? '–'
      : `${formatTokens(run.contextTokens)} of ${formatTokens(run.contextWindow ?? 0)} tokens`
  const fields: [string, string][] = [
    ['run', run.id],
    ['state', `${stateOf(run)}${run.message ? `: ${run.message}` : ''}`],
    ['agent', `${run.agent}${run.model ? ` (${run.model})` : ''}`],
    ...(run.tier === null ? [] : [['tier', tierOf(run)] as [string, string]]),
    ...(run.cycleId === null ? [] : [['cycle', run.cycleId] as [string, string]]),
    ...(run.followUpId === null ? [] : [['asked by', `follow-up ${run.followUpId}`] as [string, string]]),
    ['directory', run.workDir],
    ['session', session],
    ['start', start],
    ...(run.leftOut ? [['left out', leftOutText(run.leftOut)] as [string, string]] : []),
    ['created', run.createdAt],
    ['took', formatDuration(run.durationMs)],
    [
      'tokens',
      `${formatTokens(usage.inputTokens)} in, ${formatTokens(usage.outputTokens)} out, cache ${formatTokens(usage.cacheReadTokens)} read, ${formatTokens(usage.cacheWriteTokens)} written`,
    ],
    ['cost', formatCost(run.costUsd, run.costEstimated)],
    ['context', context],
    ['prompt', firstLine(run.prompt, 400)],
  ]
  return [
    ...fields.map(([name, value]) => `${name.padEnd(10)} ${value}`),
    ...run.attempts.map((attempt) => {
      const end = attempt.outcome
        ? `${attempt.outcome.name}: ${firstLine(attempt.outcome.message, 200)}`
        : attempt.state
      return `attempt ${attempt.number}  ${attempt.resumed ? 'resumed' : `fresh (${attempt.freshReason})`}, ${end}`
    }),
    ...run.attempts.flatMap((attempt) => (attempt.cache ? [cacheLine(attempt.number, attempt.cache)] : [])),
    ...(run.leftOut ? leftOutLines(run.leftOut) : []),
    ...run.followUps.map((followUp) => `follow-up  ${followUpText(followUp, now)}`),
    ...pendingLines(run.id, run.pending),
    ...(run.resultText ? ['', run.resultText] : []),
  ]
}

function cacheLine(number: number, cache: CacheUse): string {
  const { expectedReadTokens, readTokens, writtenTokens, rewrittenTokens, cause, rewriteUsd, savedUsd } =
    cache
  const parts = [
    `read ${formatTokens(readTokens)} of ${formatTokens(expectedReadTokens)} tokens expected`,
    `wrote ${formatTokens(writtenTokens)}`,
    ...(cause
      ? [`${formatTokens(rewrittenTokens)} written again (${cause}, +${formatCost(rewriteUsd)})`]
      : []),
    ...(savedUsd === null
      ? []
      : [
          savedUsd < 0
            ? `resuming cost ${formatCost(-savedUsd)} more`
            : `resuming saved ${formatCost(savedUsd)}`,
        ]),
  ]
  return `cache ${String(number).padEnd(4)} ${parts.join(', ')}`
}

function tierOf({ tier, dryRun, refusals, escalation, parentRunId }: RunDetail): string {
  return [
    `${tier}${dryRun ? ', dry run' : ''}${parentRunId ? `, after ${parentRunId}` : ''}`,
    ...(refusals > 0 ? [`${refusals} refused`] : []),
    ...(escalation ? [`${escalation.decision}: ${firstLine(escalation.message, 200)}`] : []),
  ].join('; ')
}

/** What is asked, and how to answer. */
export function pendingLines(runId: string, pending: readonly PendingQuestion[]): string[] {
  return pending.flatMap((question) => [
    `asks       ${describeAsk(question).replaceAll('\n', `\n${' '.repeat(11)}`)}`,
    `           reprise runs answer ${runId} ${question.toolUseId} …`,
  ])
}
