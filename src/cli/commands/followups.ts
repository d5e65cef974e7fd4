/** `reprise followups`: prompts that are scheduled for a session, by agents or by you. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { CreateFollowUp, FollowUp, FollowUpState } from '../../contract/follow-up.ts'
import type { RunId, SessionId } from '../../contract/ids.ts'
import { duration } from '../base/arguments.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { idArgument, sessionArgument } from '../base/id-argument.ts'
import { readPrompt } from '../base/prompt-input.ts'
import { usageError } from '../base/usage-error.ts'
import { connect } from '../daemon/connect.ts'
import { describeFollowUp, fateOf, followUpRows } from '../follow-ups/text.ts'
import { addListCommand } from '../list/list-command.ts'
import { styleFor } from '../terminal/terminal.ts'

const EXAMPLES = `
Agents create follow-ups with their own scheduling tools. Reprise stores them and sends the prompt to the session when
it is due, even if the agent or the daemon has ended in the meantime.

Examples:
  reprise followups                                            list all
  reprise followups list --state planned --run run_…
  reprise followups add --run run_… --in 10m "Is it still up?"
  reprise followups add --session ses_… --at 2027-01-01T07:00 "Happy new year: check the logs"
  reprise followups add --run run_… --cron "0 7 * * 1-5" --recurring "Report"
  reprise followups show fup_…
  reprise followups rm fup_…                                   cancel one`

const STATES: readonly FollowUpState[] = ['planned', 'fired', 'missed', 'cancelled']

export function define(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a follow-up, like fup_01J…', idArgument('fup')] as const
  command.description('Lists follow-ups, or does something with one of them.').addHelpText('after', EXAMPLES)
  addListCommand<FollowUp, FollowUpState, { run?: string; cycle?: string }>(
    command,
    {
      what: 'follow-ups',
      states: STATES,
      filters: [
        new Option('--run <id>', 'only follow-ups of this run').argParser(idArgument('run')),
        new Option('--cycle <id>', 'only follow-ups of this cycle of a watch').argParser(idArgument('cyc')),
      ],
      read: (client, { run, cycle, ...request }) =>
        client.listFollowUps({ ...request, runId: run, cycleId: cycle }),
      none: 'No follow-ups yet. Add one with: reprise followups add --run run_… --in 10m "…"',
      table: followUpRows,
    },
    context,
  )
  command
    .command('add')
    .summary('schedule a prompt for a session')
    .argument('[prompt...]', 'the prompt; `-` or nothing reads it from stdin')
    .option('--run <id>', 'in the session of this run', idArgument('run'))
    .option('--session <id>', "in this session (ses_… or the agent's own id)", sessionArgument)
    .option('--in <duration>', 'after this time, such as 10m', duration)
    .option(
      '--at <time>',
      'at this time, such as 2027-01-01T07:00 (local time) or 2027-01-01T07:00Z',
      instant,
    )
    .option('--cron <expression>', 'at the next matching time: minute hour day month weekday')
    .option('--time-zone <zone>', 'time zone of --cron, such as Europe/Berlin')
    .option('--recurring', 'with --cron: repeat at every matching time')
    .action((words: string[], options: AddOptions) => add(words, options, context))
  command
    .command('show')
    .summary('show one follow-up')
    .argument(...id)
    .action((followUpId: string) => show(followUpId, context))
  command
    .command('rm')
    .summary('cancel a planned follow-up; its record stays')
    .argument(...id)
    .action((followUpId: string) => cancel(followUpId, context))
}

interface AddOptions {
  run?: string
  session?: string
  in?: number
  at?: string
  cron?: string
  timeZone?: string
  recurring?: boolean
}

async function add(words: string[], options: AddOptions, context: CliContext): Promise<void> {
  checkOptions(options)
  const prompt = await readPrompt(words, context, 'reprise followups add --run run_… --in 10m "Still up?"')
  const { client } = await connect(context)
  const { run, session, in: inMs, at, cron, timeZone, recurring } = options
  // People also know sessions by the agent's own id.
  const sessionId = session === undefined ? undefined : (await client.getSession(session)).id
  const planned = await client.createFollowUp(
    toFollowUp({ prompt, run, sessionId, inMs, at, cron, timeZone, recurring }),
  )
  if (context.json) return printJson(context, planned)
  await printLine(context, `${planned.id} ${fateOf(planned, new Date())}`)
}

/** Checks the options before the daemon is asked or started. */
export function checkOptions({ run, session, in: inMs, at, cron, timeZone, recurring }: AddOptions): void {
  if ((run === undefined) === (session === undefined)) {
    throw usageError('expected either --run or --session', 'They name the session for the prompt.')
  }
  if ([inMs, at, cron].filter((when) => when !== undefined).length !== 1) {
    throw usageError(
      'expected exactly one of --in, --at and --cron',
      'They say when it is due, for example --in 10m.',
    )
  }
  if (cron === undefined && (timeZone !== undefined || recurring)) {
    throw usageError('--time-zone and --recurring can only be used with --cron')
  }
}

interface Wanted {
  prompt: string
  run: string | undefined
  sessionId: SessionId | undefined
  inMs: number | undefined
  at: string | undefined
  cron: string | undefined
  timeZone: string | undefined
  recurring: boolean | undefined
}

function toFollowUp({ run, ...wanted }: Wanted): CreateFollowUp {
  const request = { ...wanted, runId: run as RunId | undefined }
  return Object.fromEntries(
    Object.entries(request).filter(([, value]) => value !== undefined),
  ) as CreateFollowUp
}

/** Converts a time to the ISO form of the API. Without an offset it is local time. */
export function instant(text: string): string {
  const isForm = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/i.test(text)
  const date = new Date(text.replace(' ', 'T'))
  if (!isForm || Number.isNaN(date.getTime()))
    throw new InvalidArgumentError('expected a time such as 2027-01-01T07:00 or 2027-01-01T07:00Z')
  return date.toISOString()
}

async function show(id: string, context: CliContext): Promise<void> {
  const followUp = await (await connect(context)).client.getFollowUp(id)
  if (context.json) return printJson(context, followUp)
  const { safe } = styleFor(context.stdout, context.env)
  for (const line of describeFollowUp(followUp, new Date())) await printLine(context, safe(line))
}

async function cancel(id: string, context: CliContext): Promise<void> {
  const followUp = await (await connect(context)).client.cancelFollowUp(id)
  if (context.json) return printJson(context, followUp)
  await printLine(context, `cancelled ${id}`)
}
