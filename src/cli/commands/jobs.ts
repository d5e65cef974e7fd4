/** `reprise jobs`: lists and controls jobs. */
import { type Command, InvalidArgumentError } from 'commander'
import type { Client } from '../../client/client.ts'
import type { UpdateJob } from '../../contract/create-job.ts'
import type { Job, JobState } from '../../contract/job.ts'
import { amount, between, priority, wholeNumber } from '../base/arguments.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { idArgument } from '../base/id-argument.ts'
import { usageError } from '../base/usage-error.ts'
import { connect } from '../daemon/connect.ts'
import { restoreCheckpoint, rewind, showDiff } from '../jobs/checkpoints.ts'
import { showJob } from '../jobs/detail.ts'
import { followJob } from '../jobs/follow.ts'
import { showLogs, showTranscript } from '../jobs/logs.ts'
import { jobRows } from '../jobs/table.ts'
import { explainState, jobStateOf } from '../jobs/text.ts'
import { addListCommand } from '../list/list-command.ts'
import { addAnswerOptions, answerQuestion } from '../run/answer.ts'
import { simulatedCostsNote } from '../run/simulated-costs.ts'

const EXAMPLES = `
Examples:
  reprise jobs                                the newest ones
  reprise jobs list --state paused            jobs that need you
  reprise jobs show job_…                     state, cause, and how to continue
  reprise jobs logs --follow job_…            what the agent says and does, live; --raw: its events
  reprise jobs answer job_…                   answer its question
  reprise jobs retry job_…                    continue in its session; --fresh: in a new one
  reprise jobs raise job_… --budget-usd 5     raise the budget; continues a job that is paused for it
  reprise jobs diff job_… --stat              files it changed, if it has checkpoints
  reprise jobs restore job_… 2                restore the work tree to its second checkpoint
  reprise jobs transcript job_… > t.jsonl     the agent's own transcript
  reprise jobs cancel job_…`

const STATES: readonly JobState[] = [
  'queued',
  'running',
  'waiting',
  'paused',
  'completed',
  'failed',
  'cancelled',
]

export function define(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a job, like job_01J…', idArgument('job')] as const
  const detach = ['--detach', 'exit at once instead of following it; the daemon runs it'] as const
  const withClient = async () => (await connect(context)).client
  command
    .description('Lists jobs, newest first, or does something with one of them. `reprise run` starts one.')
    .addHelpText('after', EXAMPLES)

  addListCommand(
    command,
    {
      what: 'jobs, newest first',
      states: STATES,
      read: (client, request) => client.listJobs(request),
      none: 'No jobs yet. Start one with: reprise run "…"',
      table: jobRows,
      note: simulatedCostsNote,
    },
    context,
  )
  command
    .command('show')
    .summary('show one job: state, session, attempts, budget, checkpoints, result')
    .argument(...id)
    .action(async (jobId: string) => showJob(await withClient(), jobId, context))
  command
    .command('logs')
    .summary('show what the agent said and did, as `reprise run` shows it')
    .argument(...id)
    .option('-f, --follow', 'follow until the job has ended or needs you')
    .option('--raw', 'its events, one per line')
    .action(async (jobId: string, options: { follow?: boolean; raw?: boolean }) =>
      showLogs(await withClient(), jobId, options, context),
    )
  addAnswerOptions(
    command
      .command('answer')
      .summary('answer a question or permission request of the agent')
      .argument(...id),
  ).action(async (jobId: string, toolUseId: string | undefined, options) => {
    const client = await withClient()
    const { runId } = await client.getJob(jobId)
    await answerQuestion(client, { runId, toolUseId, ...options }, context)
  })
  command
    .command('retry')
    .summary('continue a job that is paused, failed or cancelled, or stop the wait of a waiting one')
    .argument(...id)
    .option('--fresh', 'in a new session')
    .option('--max-turns <n>', 'limit of turns for the next attempt', between(1, 10_000))
    .option(...detach)
    .action((jobId: string, options: RetryOptions) => retry(jobId, options, context))
  command
    .command('raise')
    .summary('change budget or priority; continues a job that is paused for its budget')
    .argument(...id)
    .option('--budget-usd <amount>', 'budget in total, or none for no limit', orNone(amount))
    .option(
      '--budget-tokens <n>',
      'token budget in total, or none for no limit',
      orNone(between(1, 1_000_000_000_000)),
    )
    .option('--priority <n>', 'jobs with a higher priority start first (-100 to 100)', priority)
    .option(...detach)
    .action((jobId: string, options: RaiseOptions) => raise(jobId, options, context))
  command
    .command('cancel')
    .summary('stop a job')
    .argument(...id)
    .option('--wait', 'wait until it has ended')
    .action((jobId: string, options: { wait?: boolean }) => cancel(jobId, options.wait === true, context))
  command
    .command('diff')
    .summary('show changes between checkpoints; by default from the first one to the work tree')
    .argument(...id)
    .argument('[from]', 'number of a checkpoint', wholeNumber)
    .argument('[to]', 'number of a later checkpoint', wholeNumber)
    .option('--stat', 'only the names of the files')
    .action(async (jobId: string, from: number | undefined, to: number | undefined, options) =>
      showDiff(await withClient(), { id: jobId, from, to, stat: options.stat === true }, context),
    )
  command
    .command('restore')
    .summary('restore the work tree to a checkpoint; its present state is saved as another one')
    .argument(...id)
    .argument('<checkpoint>', 'its number', wholeNumber)
    .action(async (jobId: string, checkpoint: number) =>
      restoreCheckpoint(await withClient(), jobId, checkpoint, context),
    )
  command
    .command('rewind')
    .summary('put files and session back to a checkpoint; nothing of the present state is lost')
    .argument(...id)
    .requiredOption('--to <checkpoint>', 'its number', wholeNumber)
    .action(async (jobId: string, options: { to: number }) =>
      rewind(await withClient(), jobId, options.to, context),
    )
  command
    .command('transcript')
    .summary("print the agent's own transcript of the job's newest session")
    .argument(...id)
    .action(async (jobId: string) => showTranscript(await withClient(), jobId, context))
}

interface RetryOptions {
  maxTurns?: number
  fresh?: boolean
  detach?: boolean
}

async function retry(
  id: string,
  { fresh, detach, maxTurns }: RetryOptions,
  context: CliContext,
): Promise<void> {
  const { client } = await connect(context)
  const before = await client.getJob(id)
  // A waiting job continues in the same run, of which earlier events need not be shown again.
  const seen = before.state === 'waiting' && !detach ? await lastEventOf(client, before.runId) : 0
  const job = await client.retryJob(id, { resume: !fresh, maxTurns })
  if (detach) return tell(job, context)
  return followJob(client, job, context, { after: job.runId === before.runId ? seen : 0 })
}

async function lastEventOf(client: Client, runId: string): Promise<number> {
  let last = 0
  for await (const { seq } of client.events(runId, { follow: false })) last = seq
  return last
}

interface RaiseOptions {
  budgetUsd?: Limit
  budgetTokens?: Limit
  priority?: number
  detach?: boolean
}

async function raise(id: string, options: RaiseOptions, context: CliContext): Promise<void> {
  const { budgetUsd, budgetTokens, priority } = options
  const change: UpdateJob = {
    ...(budgetUsd === undefined ? {} : { maxBudgetUsd: toLimit(budgetUsd) }),
    ...(budgetTokens === undefined ? {} : { maxBudgetTokens: toLimit(budgetTokens) }),
    ...(priority === undefined ? {} : { priority }),
  }
  if (Object.keys(change).length === 0) {
    throw usageError('nothing to change', 'Give --budget-usd, --budget-tokens or --priority.')
  }
  const { client } = await connect(context)
  const before = await client.getJob(id)
  const job = await client.updateJob(id, change)
  const continues = job.runId !== before.runId
  return continues && !options.detach ? followJob(client, job, context) : tell(job, context)
}

async function cancel(id: string, wait: boolean, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const asked = await client.cancelJob(id)
  const job = wait ? await client.whenJobEnds(id) : asked
  if (context.json) return printJson(context, job)
  const isOver = job.state === 'cancelled' || wait
  await printLine(context, isOver ? `${id} ${jobStateOf(job)}` : `cancelling ${id}`)
}

async function tell(job: Job, context: CliContext): Promise<void> {
  if (context.json) return printJson(context, job)
  await printLine(context, `${job.id} ${explainState(job)}`)
}

type Limit = number | 'none'

const toLimit = (limit: Limit) => (limit === 'none' ? null : limit)

function orNone(parse: (text: string) => number): (text: string) => Limit {
  return (text) => {
    if (text === 'none') return text
    try {
      return parse(text)
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error
      throw new InvalidArgumentError(`${error.message}, or none`)
    }
  }
}
