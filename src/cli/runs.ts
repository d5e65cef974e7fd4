/** `reprise runs`: what ran, how it ended, and having a say in what is running. */
import { type Command, Option } from 'commander'
import type { Run } from '../contract/run.ts'
import { answerQuestion } from './answer.ts'
import { type CliContext, notify, printJson, printLine } from './context.ts'
import { connect } from './daemon-connect.ts'
import { idArgument } from './id-argument.ts'
import { showRun } from './run-detail.ts'
import { showEvents } from './run-events.ts'
import { wholeNumber } from './run-options.ts'
import { runRows, stateOf } from './run-table.ts'
import { refuseWords } from './subcommand.ts'
import { formatTable } from './table.ts'
import { styleFor, widthOf } from './terminal.ts'

const EXAMPLES = `
Examples:
  reprise runs                                       the newest ones
  reprise runs list --state running --json
  reprise runs show run_…                            all there is to know about one
  reprise runs events --follow run_…                 what happens in it
  reprise runs answer run_… --allow                  let the agent use the tool it asks for
  reprise runs answer run_… --answer "the blue one"  answer its question
  reprise runs cancel run_…`

interface ListOptions {
  state?: Run['state']
  limit?: number
  cursor?: string
}

export function define(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a run, like run_01J…', idArgument('run')] as const
  command
    .description('Lists runs, newest first, or does something with one of them.')
    .addHelpText('after', EXAMPLES)

  command
    .command('list', { isDefault: true })
    .summary('list runs, newest first')
    .addOption(
      new Option('--state <state>', 'only those in this state').choices(['queued', 'running', 'settled']),
    )
    .option('--limit <n>', 'how many (1 to 200, default 20)', wholeNumber)
    .option('--cursor <cursor>', 'go on where a list ended (its nextCursor)')
    .allowExcessArguments(true)
    .action((options: ListOptions, self: Command) => {
      refuseWords(self)
      return list(options, context)
    })
  command
    .command('show')
    .summary('show one run with its attempts and result')
    .argument(...id)
    .action(async (runId: string) => showRun((await connect(context)).client, runId, context))
  command
    .command('events')
    .summary('show what happened in a run')
    .argument(...id)
    .option('-f, --follow', 'go on until the run has ended')
    .option('--after <seq>', 'only what comes after the event with this number', wholeNumber)
    .action(async (runId: string, options: { follow?: boolean; after?: number }) =>
      showEvents((await connect(context)).client, runId, options, context),
    )
  command
    .command('cancel')
    .summary('stop a run')
    .argument(...id)
    .option('--wait', 'wait until it has ended')
    .action((runId: string, options: { wait?: boolean }) => cancel(runId, options.wait === true, context))
  command
    .command('answer')
    .summary('answer what an agent asks')
    .argument(...id)
    .argument('[toolUseId]', 'which question, if there are several')
    .option('--allow', 'allow the tool call')
    .option('--deny', 'deny it')
    .option('--message <text>', 'told to the agent with a denial')
    .option('--answer <text...>', 'an answer; "question=answer" if there are several questions')
    .action(async (runId: string, toolUseId: string | undefined, options) =>
      answerQuestion((await connect(context)).client, { runId, toolUseId, ...options }, context),
    )
}

async function list(options: ListOptions, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const page = await client.listRuns({ ...options, limit: options.limit ?? 20 })
  if (context.json) return printJson(context, page)
  if (page.items.length === 0) return notify(context, 'No runs yet. Start one with: reprise run "…"')
  const style = styleFor(context.stdout, context.env)
  const { headings, rows } = runRows(page.items, new Date())
  const [heading = '', ...lines] = formatTable(headings, rows, widthOf(context.stdout))
  await printLine(context, style.dim(heading))
  for (const line of lines) await printLine(context, style.safe(line))
  if (page.nextCursor) notify(context, style.dim(`More: reprise runs list --cursor ${page.nextCursor}`))
}

async function cancel(id: string, wait: boolean, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const asked = await client.cancelRun(id)
  const run = wait ? await client.whenSettled(id) : asked
  if (context.json) return printJson(context, run)
  await printLine(context, run.state === 'settled' ? `${id} ${stateOf(run)}` : `${id} is being cancelled`)
}
