/** `reprise runs`: what ran, how it ended, and having a say in what is running. */
import type { Command } from 'commander'
import { wholeNumber } from '../base/arguments.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { idArgument } from '../base/id-argument.ts'
import { connect } from '../daemon/connect.ts'
import { addListCommand } from '../list/list-command.ts'
import { answerQuestion } from '../run/answer.ts'
import { addChainCommands } from '../run/chain.ts'
import { showRun } from '../run/detail.ts'
import { showEvents } from '../run/events.ts'
import { runRows, stateOf } from '../run/table.ts'

const EXAMPLES = `
Examples:
  reprise runs                                       the newest ones
  reprise runs list --state running --json
  reprise runs show run_…                            all there is to know about one
  reprise runs events --follow run_…                 what happens in it
  reprise runs answer run_… --allow                  let the agent use the tool it asks for
  reprise runs answer run_… --answer "the blue one"  answer its question
  reprise runs chain run_…                           the tiers of its investigation
  reprise runs approve run_…                         let the next tier start
  reprise runs cancel run_…
  reprise runs continue run_…                        try now instead of waiting; also for a paused one`

export function define(command: Command, context: CliContext): void {
  const id = ['<id>', 'id of a run, like run_01J…', idArgument('run')] as const
  command
    .description('Lists runs, newest first, or does something with one of them.')
    .addHelpText('after', EXAMPLES)

  addListCommand(
    command,
    {
      what: 'runs, newest first',
      states: ['queued', 'running', 'settled'],
      read: (client, request) => client.listRuns(request),
      none: 'No runs yet. Start one with: reprise run "…"',
      table: runRows,
    },
    context,
  )
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
    .command('continue')
    .summary('make a run that waits, or is paused, go on now')
    .argument(...id)
    .action((runId: string) => goOn(runId, context))
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
  addChainCommands(command, context)
}

async function cancel(id: string, wait: boolean, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const asked = await client.cancelRun(id)
  const run = wait ? await client.whenSettled(id) : asked
  if (context.json) return printJson(context, run)
  await printLine(context, run.state === 'settled' ? `${id} ${stateOf(run)}` : `${id} is being cancelled`)
}

async function goOn(id: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const run = await client.continueRun(id)
  if (context.json) return printJson(context, run)
  await printLine(context, run.state === 'queued' ? `${id} will be tried now` : `${id} is ${stateOf(run)}`)
}
