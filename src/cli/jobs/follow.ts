/** Follows a job to its end, then prints a summary of it and sets the exit code. */
import type { Client } from '../../client/client.ts'
import type { Job, JobDetail } from '../../contract/job.ts'
import { shortId } from '../../contract/reference.ts'
import type { RunDetail } from '../../contract/run.ts'
import { startText } from '../../contract/start-text.ts'
import { type CliContext, notify, printJson } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import type { Attachment } from '../run/attachment.ts'
import { type Ended, followToEnd } from '../run/follow.ts'
import { formatCost, formatDuration, formatTokens } from '../terminal/amounts.ts'
import { type Style, styleFor } from '../terminal/terminal.ts'
import { withLocalTimes } from '../terminal/time.ts'
import { jobStateOf, whatNext } from './text.ts'

interface JobFollowOptions {
  /** Start after the event with this number. */
  after?: number
  attachment?: Attachment
}

/** Follows the run that works on the job. In an attachment, all its runs are shown, from the first one. */
export async function followJob(
  client: Client,
  job: Job,
  context: CliContext,
  { after = 0, attachment }: JobFollowOptions = {},
): Promise<void> {
  const { id } = job
  let end: Ended | null = null
  for (const runId of attachment ? (await client.getJob(id)).runIds : [job.runId]) {
    end = await followToEnd(
      client,
      { runId, noun: 'job', cancel: () => client.cancelJob(id), command: `reprise attach ${id}` },
      context,
      {
        leave: () => process.exit(EXIT.interrupted),
        announceResume: true,
        ...(attachment ? { attachment } : { before: job.progress, after }),
      },
    )
    if (end.left) return
  }
  if (end) await tellEnd(client, id, end, context)
}

async function tellEnd(
  client: Client,
  id: string,
  { settled, interrupted }: Ended,
  context: CliContext,
): Promise<void> {
  const ended = await client.getJob(id)
  if (context.json) await printJson(context, { type: 'job', ...ended })
  else {
    const style = styleFor(context.stderr, context.env)
    for (const line of summarizeJob(ended, settled, style)) notify(context, line)
  }
  const code = ended.state === 'completed' ? EXIT.done : EXIT.failed
  context.exitCode = interrupted ? EXIT.interrupted : code
}

function summarizeJob(job: JobDetail, run: RunDetail, style: Style): string[] {
  const { usage, message, state } = job
  const paint = state === 'completed' ? style.green : state === 'paused' ? style.yellow : style.red
  const parts = [
    `${shortId(job.id)} ${paint(jobStateOf(job))}`,
    startText(run),
    ...(job.attemptCount > 1 ? [`${job.attemptCount} attempts`] : []),
    `${formatTokens(usage.inputTokens)} in, ${formatTokens(usage.outputTokens)} out, cache ${formatTokens(usage.cacheReadTokens)} read, ${formatTokens(usage.cacheWriteTokens)} written`,
    formatCost(job.costUsd, job.costEstimated),
    formatDuration(job.progress.elapsedMs),
  ]
  const isSaid = state === 'completed' || message === null || message === '' || message === state
  const { needs, commands } = whatNext(job)
  return [
    parts.join(' · '),
    ...(isSaid ? [] : [style.safe(withLocalTimes(message))]),
    ...(needs === null ? [] : [`needs: ${needs}`]),
    ...commands.map((command) => style.dim(`continue with: ${command}`)),
  ]
}
