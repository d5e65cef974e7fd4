/** One job, as a page. */
import type { Client } from '../../client/client.ts'
import type { JobAttempt, JobDetail } from '../../contract/job.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { pendingLines } from '../run/detail.ts'
import { count, formatAge, formatDuration, formatSize, formatTokens } from '../terminal/amounts.ts'
import { firstLine, styleFor } from '../terminal/terminal.ts'
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
    ['state', explainState(job)],
    ...(needs === null ? [] : [['needs', needs] as [string, string]]),
    ...commands.map((command): [string, string] => ['go on', command]),
    ['agent', `${job.agent}${job.model ? ` (${job.model})` : ''}`],
    ['directory', job.workDir],
    ['session', sessionText(job)],
    ['runs', job.runIds.join(' ')],
    ['created', job.createdAt],
    ['progress', progressText(job, now)],
    ['spent', budgetText(job)],
    ['limits', limitsText(job)],
    ['checkpoints', policyText(job)],
    ['prompt', firstLine(job.prompt, 400)],
  ]
  return [
    ...fields.map(([name, value]) => `${name.padEnd(11)} ${value}`),
    ...job.attempts.map((attempt, index) => `attempt ${index + 1}  ${attemptText(attempt)}`),
    ...job.checkpoints.map(
      ({ number, kind, commit, createdAt, ref }) =>
        `checkpoint ${number}  ${kind.padEnd(5)} ${commit.slice(0, 12)} ${createdAt} ${ref}`,
    ),
    ...job.archived.map(
      ({ sessionId, bytes, path }) => `transcript of ${sessionId}, ${formatSize(bytes)}: ${path}`,
    ),
    ...pendingLines(job.runId, job.pending),
    ...(job.resultText ? ['', job.resultText] : []),
  ]
}

function sessionText({ session, sessionId, sessionSavedAt, resumeCount }: JobDetail): string {
  if (!session) return 'none yet'
  return `${session} (${sessionId}), saved ${sessionSavedAt}, resumed ${count(resumeCount, 'time')}`
}

function progressText({ progress, state }: JobDetail, now: Date): string {
  const { modelCalls, toolCalls, tokens, elapsedMs, lastActivityAt, tool } = progress
  const parts = [
    count(modelCalls, 'model call'),
    count(toolCalls, 'tool call'),
    `${formatTokens(tokens)} tokens`,
    formatDuration(elapsedMs),
    ...(lastActivityAt && state === 'running' ? [`last activity ${formatAge(lastActivityAt, now)} ago`] : []),
    ...(tool ? [`now ${tool}`] : []),
  ]
  return parts.join(', ')
}

function limitsText({ timeoutMs, maxResumes, priority }: JobDetail): string {
  const timeout = timeoutMs === null ? 'the usual timeout' : `timeout ${formatDuration(timeoutMs)}`
  return `${timeout} for an attempt, ${count(maxResumes, 'resume')}, priority ${priority}`
}

function policyText({ checkpointPolicy }: JobDetail): string {
  if (!checkpointPolicy) return 'not asked for'
  return `every ${formatDuration(checkpointPolicy.everyMs)}, on change ${checkpointPolicy.onChange}`
}

function attemptText({ resumed, freshReason, outcome, state }: JobAttempt): string {
  const end = outcome ? `${outcome.name}: ${firstLine(outcome.message, 200)}` : state
  return `${resumed ? 'resumed' : `fresh (${freshReason})`}, ${end}`
}
