/** `reprise run`: gives a prompt to an agent and follows the run to its end. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { type CliContext, notify, printJson, printLine } from './context.ts'
import { connectLastingly } from './daemon-connect.ts'
import { followRun } from './follow-run.ts'
import { readPrompt } from './prompt-input.ts'
import { addRunOptions, type RunOptions, toRequest } from './run-options.ts'

const EXAMPLES = `
The agent's words go to stdout, everything else to stderr. Ctrl-C cancels the run, a second one leaves at once.

Examples:
  reprise run "Fix the failing test"
  reprise run --session ses_… "Now update the changelog"
  reprise run --permissions ask --timeout 2h --max-budget-usd 5 "Upgrade the dependencies"
  reprise run - < prompt.md
  reprise run -- --this is a prompt too
  reprise run --json "Say hi" | jq -r 'select(.type == "text-end").text'
  reprise run --detach "Long work"; reprise runs events --follow run_…`

export function define(command: Command, context: CliContext): void {
  addRunOptions(
    command
      .description('Gives a prompt to an agent, streams what it says, and ends when the run has ended.')
      .argument('[prompt...]', 'what to do; `-` or nothing reads it from stdin'),
  )
    .addHelpText('after', EXAMPLES)
    .action((words: string[], options: RunOptions) => startRun(words, options, context))
}

async function startRun(words: string[], options: RunOptions, context: CliContext): Promise<void> {
  const prompt = await readPrompt(words, context)
  const ask = await connectLastingly(context)
  // People also know sessions by the agent's own id.
  const { session } = options
  const sessionId = session === undefined ? undefined : (await ask((client) => client.getSession(session))).id
  const request = toRequest(prompt, options, { cwd: context.cwd, sessionId })
  const idempotencyKey = randomUUID()
  const { client, run } = await ask(async (client) => ({
    client,
    run: await client.createRun(request, { idempotencyKey }),
  }))
  if (!options.detach) return followRun(client, run, context)
  if (context.json) return printJson(context, run)
  await printLine(context, run.id)
  notify(context, `Follow it with: reprise runs events --follow ${run.id}`)
}
