/** `reprise runs`: lists and controls runs. */
import type { Command } from 'commander'
import { wholeNumber } from '../base/arguments.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { idArgument } from '../base/id-argument.ts'
import { connect } from '../daemon/connect.ts'
import { addListCommand } from '../list/list-command.ts'
import { addAnswerOptions, answerQuestion } from '../run/answer.ts'
import { addChainCommands } from '../run/chain.ts'
import { showRun } from '../run/detail.ts'
import { showEvents } from '../run/events.ts'
import { simulatedCostsNote } from '../run/simulated-costs.ts'
import { runRows, stateOf } from '../run/table.ts'

const EXAMPLES = `
Examples:
  reprise runs                                       the newest ones
  reprise runs list --state running --json
  reprise runs show run_…                            everything about one run
  reprise runs events --follow run_…                 its events, live
  reprise runs answer run_…                          show the question and ask for the answer
  reprise runs answer run_… --allow                  allow the tool call that the agent asks for
  reprise runs answer run_… --answer "the blue one"  answer a question of the agent
  reprise runs chain run_…                           all tiers of its investigation
  reprise runs approve run_…                         approve the next tier
  reprise runs cancel run_…
  reprise runs continue run_…                        stop waiting and try now; also for a paused run`

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
      note: simulatedCostsNote,
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
    .summary('show the events of a run')
    .argument(...id)
    .option('-f, --follow', 'follow until the run has ended')
    .option('--after <seq>', 'only events after this number', wholeNumber)
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
    .summary('continue a waiting or paused run now')
    .argument(...id)
    .action((runId: string) => continueRun(runId, context))
  addAnswerOptions(
    command
      .command('answer')
      .summary('answer a question or permission request of an agent')
      .argument(...id),
  ).action(async (runId: string, toolUseId: string | undefined, options) =>
    answerQuestion((await connect(context)).client, { runId, toolUseId, ...options }, context),
  )
  addChainCommands(command, context)
}

async function cancel(id: string, wait: boolean, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const asked = await client.cancelRun(id)
  const run = wait ? await client.whenSettled(id) : asked
  if (context.json) return printJson(context, run)
  await printLine(context, run.state === 'settled' ? `${id} ${stateOf(run)}` : `cancelling ${id}`)
}

async function continueRun(id: string, context: CliContext): Promise<void> {
  const { client } = await connect(context)
  const run = await client.continueRun(id)
  if (context.json) return printJson(context, run)
  await printLine(context, run.state === 'queued' ? `${id} continues now` : `${id} is ${stateOf(run)}`)
}
