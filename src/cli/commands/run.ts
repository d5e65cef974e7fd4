/** `reprise run`: starts a job and follows it to its end. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { readPrompt } from '../base/prompt-input.ts'
import { connectLastingly } from '../daemon/connect.ts'
import { followJob } from '../jobs/follow.ts'
import { addRunOptions, type RunOptions, toRequest } from '../run/options.ts'
import { offerTrust } from '../trust/consent.ts'

const EXAMPLES = `
After an interruption (a crash, a timeout, a lost connection, a rate limit) the job waits if necessary and continues in
the same session. If it needs you, it pauses, and this command prints how to continue and exits with 1.

The agent's text goes to stdout, everything else to stderr. Ctrl-C cancels the job, a second Ctrl-C exits at once.

Examples:
  reprise run "Fix the failing test"
  reprise run --session ses_… "Now update the changelog"
  reprise run --permissions ask --timeout 2h --max-budget-usd 5 "Upgrade the dependencies"
  reprise run --checkpoints --on-change restore "Rename it everywhere"
  reprise run - < prompt.md
  reprise run -- --this is a prompt too
  reprise run --json "Say hi" | jq -r 'select(.type == "text-end").text'
  reprise run --detach "Long work"; reprise attach last`

export function define(command: Command, context: CliContext): void {
  addRunOptions(
    command
      .description('Gives a prompt to an agent as a job, and follows the job until it ends or needs you.')
      .argument('[prompt...]', 'the prompt; `-` or nothing reads it from stdin'),
  )
    .addHelpText('after', EXAMPLES)
    .action((words: string[], options: RunOptions) => startJob(words, options, context))
}

async function startJob(words: string[], options: RunOptions, context: CliContext): Promise<void> {
  const prompt = await readPrompt(words, context)
  const ask = await connectLastingly(context)
  // A session can also be given by the agent's own id.
  const { session } = options
  const sessionId = session === undefined ? undefined : (await ask((client) => client.getSession(session))).id
  const request = toRequest(prompt, options, { cwd: context.cwd, sessionId })
  if (!options.detach) await offerTrust(ask, request.workDir, context)
  const idempotencyKey = randomUUID()
  const { client, job } = await ask(async (client) => ({
    client,
    job: await client.createJob(request, { idempotencyKey }),
  }))
  if (!options.detach) return followJob(client, job, context)
  if (context.json) return printJson(context, job)
  await printLine(context, job.id)
  notify(context, `Follow it with: reprise attach ${job.id}`)
}
