/** `reprise say`: sends a message to an agent that is at work. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { shortId } from '../../contract/reference.ts'
import type { RunMessage } from '../../contract/run-message.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { idArgument } from '../base/id-argument.ts'
import { readPrompt } from '../base/prompt-input.ts'
import { connectLastingly } from '../daemon/connect.ts'

const EXAMPLES = `
The agent gets the message in its session at the next opportunity, usually after its current tool call. If the run ends
first, the message becomes the next turn of its conversation.

Examples:
  reprise say last "use the staging database"
  reprise say job_K3F9QZ "skip the slow tests"
  reprise say run_… --from "the build" "main is red since 3a1f"`

export function define(command: Command, context: CliContext): void {
  command
    .description('Sends a message to an agent that is at work.')
    .argument(
      '<id>',
      'a run, or the job, conversation or cycle that it is for; last: the newest',
      idArgument('run'),
    )
    .argument('[text...]', 'the message; `-` or nothing reads it from stdin')
    .option('--from <name>', 'who says it; the agent is told')
    .addHelpText('after', EXAMPLES)
    .action((id: string, words: string[], options: { from?: string }) => say(id, words, options, context))
}

async function say(
  id: string,
  words: string[],
  { from }: { from?: string },
  context: CliContext,
): Promise<void> {
  const text = await readPrompt(words, context, 'reprise say last "use the other branch"')
  const ask = await connectLastingly(context)
  const idempotencyKey = randomUUID()
  const message = { text, ...(from === undefined ? {} : { from }) }
  const said = await ask((client) => client.say(id, message, { idempotencyKey }))
  if (context.json) return printJson(context, said)
  await printLine(context, outcomeOf(id, said))
}

function outcomeOf(id: string, { state, nextRunId }: RunMessage): string {
  if (state === 'turn' && nextRunId)
    return `${shortId(id)} has ended; the message is the next turn: ${shortId(nextRunId)}`
  if (state === 'missed') return `${shortId(id)} has ended, and nobody reads the message`
  return `stored; the agent of ${shortId(id)} gets it at the next opportunity`
}
