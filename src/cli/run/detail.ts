/** `reprise runs show`: everything about one run. */
import type { Client } from '../../client/client.ts'
import type { CacheUse } from '../../contract/cache.ts'
import type { PendingQuestion } from '../../contract/question.ts'
import type { Attempt, RunDetail } from '../../contract/run.ts'
import { startText } from '../../contract/start-text.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { followUpText } from '../follow-ups/text.ts'
import { formatCost, formatDuration, formatTokens } from '../terminal/amounts.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'
import { answerCommand, describeAsk } from './ask-text.ts'
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
  const context =
    run.contextTokens === null
      ? '–'
      : `${formatTokens(run.contextTokens)} of ${formatTokens(run.contextWindow ?? 0)} tokens`
  const fields: [string, string][] = [
    ['run', run.id],
    ['state', `${stateOf(run)}${run.message ? `: ${withLocalTimes(run.message, now)}` : ''}`],
    ['agent', `${run.agent}${run.model ? ` (${run.model})` : ''}`],
    ...(run.tier === null ? [] : [['tier', tierOf(run)] as [string, string]]),
    ...(run.cycleId === null ? [] : [['cycle', run.cycleId] as [string, string]]),
    ...(run.followUpId === null ? [] : [['cause', `follow-up ${run.followUpId}`] as [string, string]]),
    ['directory', run.workDir],
    ...(run.directorySettings === 'ignored'
      ? [['settings', 'those of the directory do not apply; see: reprise trust'] as [string, string]]
      : []),
    ['session', session],
    ['start', startText(run)],
    ...(run.leftOut ? [['left out', leftOutText(run.leftOut)] as [string, string]] : []),
    ['created', formatTime(run.createdAt, now)],
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
      return `attempt ${attempt.number}  ${attemptText(attempt, now)}`
    }),
    ...run.attempts.flatMap((attempt) => (attempt.cache ? [cacheLine(attempt.number, attempt.cache)] : [])),
    ...(run.leftOut ? leftOutLines(run.leftOut) : []),
    ...run.followUps.map((followUp) => `follow-up  ${followUpText(followUp, now)}`),
    ...pendingLines(run.id, run.pending),
    ...(run.resultText ? ['', run.resultText] : []),
  ]
}

/** How an attempt started and ended. The agent's process is a child of the keeper. */
export function attemptText(attempt: Attempt, now: Date): string {
  const { outcome, state, pid } = attempt
  const keeper = state === 'running' && pid !== null ? ` (keeper process ${pid})` : ''
  const message = outcome && withLocalTimes(firstLine(outcome.message, 200), now)
  return `${startText(attempt)}; ${outcome ? `${outcome.name}: ${message}` : `${state}${keeper}`}`
}

function cacheLine(number: number, cache: CacheUse): string {
  const { expectedReadTokens, readTokens, writtenTokens, rewrittenTokens, cause, rewriteUsd, savedUsd } =
    cache
  const parts = [
    `read ${formatTokens(readTokens)} of ${formatTokens(expectedReadTokens)} expected tokens`,
    `wrote ${formatTokens(writtenTokens)}`,
    ...(cause ? [`${formatTokens(rewrittenTokens)} rewritten (${cause}, +${formatCost(rewriteUsd)})`] : []),
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

/** The open questions, and the commands that answer them. */
export function pendingLines(runId: string, pending: readonly PendingQuestion[]): string[] {
  return pending.flatMap((question) => [
    `asks       ${describeAsk(question).replaceAll('\n', `\n${' '.repeat(11)}`)}`,
    `           ${answerCommand(runId, question)}`,
  ])
}
