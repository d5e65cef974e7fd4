/** `reprise investigate`: starts a run at the lowest tier and follows the chain of tiers to its end. */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { CreateRun } from '../../contract/create-run.ts'
import { amount, tierNumber } from '../base/arguments.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { readInstructions } from '../base/instructions-file.ts'
import { readPrompt } from '../base/prompt-input.ts'
import { connectLastingly } from '../daemon/connect.ts'
import { followChain } from '../run/follow-chain.ts'

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
  reprise attach run_…                               watch it again, and approve a tier that waits`

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
  const run = await ask((client) => client.createRun(request, { idempotencyKey }))
  if (!options.detach) return followChain(ask, run.id, context)
  if (context.json) return printJson(context, run)
  await printLine(context, run.id)
  notify(context, `Follow it with: reprise attach ${run.id}`)
}
