/** Follows the current run of a job to its end, then prints a summary of the job and sets the exit code. */
import type { Client } from '../../client/client.ts'
import type { RunEvent } from '../../contract/events.ts'
import type { Job, JobDetail } from '../../contract/job.ts'
import type { OutcomeName } from '../../contract/outcome.ts'
import type { RunDetail } from '../../contract/run.ts'
import { startText } from '../../contract/start-text.ts'
import { type CliContext, notify, printJson } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { followToEnd } from '../run/follow.ts'
import { formatCost, formatDuration, formatTokens } from '../terminal/amounts.ts'
import { type Style, styleFor } from '../terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'
import { jobStateOf, whatNext } from './text.ts'

export async function followJob(
  client: Client,
  job: Job,
  context: CliContext,
  { after = 0 }: { after?: number } = {},
): Promise<void> {
  const { id, runId } = job
  const followed = {
    runId,
    noun: 'job',
    cancel: () => client.cancelJob(id),
    command: `reprise jobs logs --follow ${id}`,
  } as const
  const waits = createWaitNotice(client, id)
  const { settled, interrupted } = await followToEnd(client, followed, context, {
    leave: () => process.exit(EXIT.interrupted),
    announceResume: true,
    before: job.progress,
    after,
    see: waits.see,
  }).finally(waits.close)
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
    paint(jobStateOf(job)),
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

/** Long enough for the next attempt to start if there is nothing to wait for. */
const LOOK_AFTER_MS = 250

const WAITS_FOR: Partial<Record<OutcomeName, string>> = {
  'rate-limited': 'rate limit',
  outage: 'outage of the model',
  'api-error': 'error of the model API',
  'timed-out': 'timeout',
  crashed: 'crash',
}

/** Prints until when a job waits, once for each wait. */
function createWaitNotice(client: Client, jobId: string) {
  let pending: NodeJS.Timeout | undefined
  const look = async (outcome: OutcomeName, note: (line: string) => void) => {
    const job = await client.getJob(jobId).catch(() => null)
    if (!job?.waitingUntil || pending === undefined) return
    note(
      `waiting until ${formatTime(job.waitingUntil)} (${WAITS_FOR[outcome] ?? outcome}), then continues automatically`,
    )
  }
  const close = () => {
    clearTimeout(pending)
    pending = undefined
  }
  return {
    see: (event: RunEvent, note: (line: string) => void) => {
      if (event.type === 'attempt-start' || event.type === 'run-end') close()
      if (event.type !== 'attempt-end') return
      const { name } = event.outcome
      pending = setTimeout(() => look(name, note), LOOK_AFTER_MS)
    },
    close,
  }
}
