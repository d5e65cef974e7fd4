/** `reprise investigate`: starts a run at the lowest tier and follows the chain of tiers to its end. */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import type { CreateRun } from '../../contract/create-run.ts'
import type { RunDetail } from '../../contract/run.ts'
import { amount, tierNumber } from '../base/arguments.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { readInstructions } from '../base/instructions-file.ts'
import { readPrompt } from '../base/prompt-input.ts'
import { type AskDaemon, connectLastingly } from '../daemon/connect.ts'
import { chainLines, reportLines } from '../run/chain-text.ts'
import { followToEnd } from '../run/follow.ts'
import { styleFor, widthOf } from '../terminal/terminal.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'

const EXAMPLES = `
A cheap model investigates first. If it finds a problem that needs action, the next tier takes over in the same session,
with more rights. The configuration (tiers, policy, cooldowns) says what each tier may do, and every tool call is checked.

The report goes to stdout, everything else to stderr. The exit code is 0 if nothing is left to do, and 1 if a person
should look: a tier failed, gave no report, or recommended a tier that was not allowed.

Examples:
  reprise investigate "Check jellyfin at http://127.0.0.1:8096"
  reprise investigate --dry-run "Is the backup of last night complete?"
  reprise investigate --max-tier 2 --environment hosts.md "Disk alerts on nas"
  reprise runs chain run_…                           the tiers, their actions and their cost
  reprise runs approve run_…                         approve a tier that waits`

interface Options {
  agent?: string
  cwd?: string
  tier?: number
  maxTier?: number
  maxBudgetUsd?: number
  environment?: string
  approved?: boolean
  dryRun?: boolean
  detach?: boolean
}

export function define(command: Command, context: CliContext): void {
  command
    .description('Investigates a problem and fixes it, escalating tier by tier as far as the rules allow.')
    .argument('[prompt...]', 'what to investigate; `-` or nothing reads it from stdin')
    .option('--agent <name>', 'agent to use')
    .option('--cwd <dir>', 'work directory (default: the current one)')
    .option('--tier <n>', 'tier to start with (default 1)', tierNumber)
    .option('--max-tier <n>', 'highest tier that may be reached', tierNumber)
    .option('--max-budget-usd <amount>', 'maximum cost of all tiers together', amount)
    .option('--environment <file>', 'file describing the environment, given to each new session')
    .option('--approved', 'approve the first tier, if it needs approval')
    .option('--dry-run', 'change nothing; report what would have been done')
    .option('--detach', 'print the id of the first run and exit')
    .addHelpText('after', EXAMPLES)
    .action((words: string[], options: Options) => investigate(words, options, context))
}

async function investigate(words: string[], options: Options, context: CliContext): Promise<void> {
  const prompt = await readPrompt(words, context)
  const request: CreateRun = {
    prompt,
    workDir: resolve(context.cwd, options.cwd ?? '.'),
    tier: options.tier ?? 1,
    ...(options.agent === undefined ? {} : { agent: options.agent }),
    ...(options.maxTier === undefined ? {} : { maxTier: options.maxTier }),
    ...(options.maxBudgetUsd === undefined ? {} : { maxBudgetUsd: options.maxBudgetUsd }),
    ...(options.approved ? { approved: true } : {}),
    ...(options.dryRun ? { dryRun: true } : {}),
    ...(options.environment === undefined
      ? {}
      : { environment: await readInstructions(options.environment, context, 'environment') }),
  }
  const ask = await connectLastingly(context)
  const idempotencyKey = randomUUID()
  const { client, run } = await ask(async (client) => ({
    client,
    run: await client.createRun(request, { idempotencyKey }),
  }))
  if (!options.detach) return followChain(client, ask, run.id, context)
  if (context.json) return printJson(context, run)
  await printLine(context, run.id)
  notify(context, `Follow it with: reprise runs chain ${run.id}`)
}

async function followChain(client: Client, ask: AskDaemon, root: string, context: CliContext): Promise<void> {
  const style = styleFor(context.stderr, context.env)
  const command = `reprise runs chain ${root}`
  for (let runId: string | null = root; runId !== null; ) {
    // Cancelling the first run cancels the whole chain.
    const followed = { runId, noun: 'run', cancel: () => client.cancelRun(root), command } as const
    const { settled, interrupted } = await followToEnd(client, followed, context, {
      leave: () => process.exit(EXIT.interrupted),
      announceResume: true,
    })
    if (interrupted) {
      context.exitCode = EXIT.interrupted
      break
    }
    const decided = await whenDecided(ask, settled, root, context)
    if (context.json && decided) await printJson(context, { type: 'escalation', ...decided })
    runId = decided?.nextRunId ?? null
    if (runId !== null && !context.json) {
      notify(
        context,
        style.bold(`→ tier ${decided?.toTier}: ${style.safe(withLocalTimes(decided?.message ?? ''))}`),
      )
    }
  }
  const chain = await ask((client) => client.getChain(root))
  const last = chain.runs.at(-1)
  const signal = last?.escalation?.recommendation.signal
  if (context.json) await printJson(context, { type: 'chain', ...chain })
  else {
    const words = styleFor(context.stdout, context.env)
    for (const line of signal ? reportLines(signal) : []) await printLine(context, words.safe(line))
    for (const line of chainLines(chain, style, widthOf(context.stderr))) notify(context, line)
  }
  context.exitCode ||= last?.escalation?.reason === 'not-recommended' ? EXIT.done : EXIT.failed
}

const LOOK_AGAIN_MS = 1000

/** Waits while a tier needs approval, also across restarts of the daemon. */
async function whenDecided(ask: AskDaemon, run: RunDetail, root: string, context: CliContext) {
  let { escalation } = run
  if (escalation?.decision !== 'ask') return escalation
  if (context.json) await printJson(context, { type: 'escalation', ...escalation })
  else {
    const until = escalation.expiresAt ? ` until ${formatTime(escalation.expiresAt)}` : ''
    notify(
      context,
      `${escalation.message}\nwaiting${until} for approval; decide with: reprise runs approve ${run.id}   (or refuse)`,
    )
  }
  const before = context.interrupt
  context.interrupt = () => {
    notify(context, `It keeps waiting for approval. Cancel it with: reprise runs cancel ${root}`)
    process.exit(EXIT.interrupted)
  }
  try {
    while (escalation?.decision === 'ask') {
      await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS))
      escalation = (await ask((client) => client.getRun(run.id))).escalation
    }
  } finally {
    context.interrupt = before
  }
  return escalation
}
