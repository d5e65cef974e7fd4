/** `reprise jobs show`: everything about one job. */
import type { Client } from '../../client/client.ts'
import type { JobDetail } from '../../contract/job.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { attemptText, pendingLines } from '../run/detail.ts'
import { count, formatAge, formatDuration, formatSize, formatTokens } from '../terminal/amounts.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
import { formatTime } from '../terminal/time.ts'
import { budgetText, explainState, whatNext } from './text.ts'

export async function showJob(client: Client, id: string, context: CliContext): Promise<void> {
  const job = await client.getJob(id)
  if (context.json) return printJson(context, job)
  const style = styleFor(context.stdout, context.env)
  for (const line of describeJob(job, new Date())) await printLine(context, style.safe(line))
}

export function describeJob(job: JobDetail, now: Date): string[] {
  const { needs, commands } = whatNext(job)
  const fields: [string, string][] = [
    ['job', job.id],
    ['state', explainState(job, now)],
    ...(needs === null ? [] : [['needs', needs] as [string, string]]),
    ...commands.map((command): [string, string] => ['continue', command]),
    ['agent', `${job.agent}${job.model ? ` (${job.model})` : ''}`],
    ['directory', job.workDir],
    ['session', sessionText(job, now)],
    ['runs', job.runIds.join(' ')],
    ['created', formatTime(job.createdAt, now)],
    ['progress', progressText(job, now)],
    ['spent', budgetText(job)],
    ['limits', limitsText(job)],
    ['checkpoints', policyText(job)],
    ['prompt', firstLine(job.prompt, 400)],
  ]
  return [
    ...fields.map(([name, value]) => `${name.padEnd(11)} ${value}`),
    ...job.attempts.map((attempt, index) => `attempt ${index + 1}  ${attemptText(attempt, now)}`),
    ...job.checkpoints.map(
      ({ number, kind, commit, createdAt, ref }) =>
        `checkpoint ${number}  ${kind.padEnd(5)} ${commit.slice(0, 12)} ${formatTime(createdAt, now)} ${ref}`,
    ),
    ...job.archived.map(
      ({ sessionId, bytes, path }) => `transcript of ${sessionId}, ${formatSize(bytes)}: ${path}`,
    ),
    ...pendingLines(job.runId, job.pending),
    ...(job.resultText ? ['', job.resultText] : []),
  ]
}

function sessionText({ session, sessionId, sessionSavedAt, resumeCount }: JobDetail, now: Date): string {
  if (!session) return 'none yet'
  const saved = sessionSavedAt === null ? '' : `, saved ${formatTime(sessionSavedAt, now)}`
  return `${session} (${sessionId})${saved}, resumed ${count(resumeCount, 'time')}`
}

function progressText({ progress, state }: JobDetail, now: Date): string {
  const { modelCalls, toolCalls, tokens, elapsedMs, lastActivityAt, tool } = progress
  const parts = [
    count(modelCalls, 'model call'),
    count(toolCalls, 'tool call'),
    `${formatTokens(tokens)} tokens`,
    formatDuration(elapsedMs),
    ...(lastActivityAt && state === 'running' ? [`last activity ${formatAge(lastActivityAt, now)} ago`] : []),
    ...(tool ? [`running ${tool}`] : []),
  ]
  return parts.join(', ')
}

function limitsText({ timeoutMs, maxResumes, priority, maxTurns, maxTurnsTotal }: JobDetail): string {
  const timeout = timeoutMs === null ? 'default timeout' : `timeout ${formatDuration(timeoutMs)}`
  const turns = [
    ...(maxTurns === null ? [] : [`${count(maxTurns, 'turn')} per attempt`]),
    ...(maxTurnsTotal === null ? [] : [`then continues, up to ${count(maxTurnsTotal, 'turn')} in total`]),
  ]
  return [
    `${timeout} per attempt`,
    ...turns,
    `up to ${count(maxResumes, 'resume')}`,
    `priority ${priority}`,
  ].join(', ')
}

function policyText({ checkpointPolicy }: JobDetail): string {
  if (!checkpointPolicy) return 'off'
  return `after each attempt and every ${formatDuration(checkpointPolicy.everyMs)}; if others change the work tree: ${checkpointPolicy.onChange}`
}
