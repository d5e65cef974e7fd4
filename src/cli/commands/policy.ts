/** `reprise policy check`: whether a command may run at a tier, and why not. Asks the configuration, not the daemon. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { RepriseError } from '../../contract/errors.ts'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { EXIT } from '../base/exit-code.ts'
import { usageError } from '../base/usage-error.ts'
import { homeOf } from '../daemon/link.ts'
import { styleFor } from '../terminal/terminal.ts'

const EXAMPLES = `
Examples:
  reprise policy check --tier 2 "docker restart jellyfin"
  reprise policy check "sh -c 'docker system prune'"     refused at every tier
  reprise policy check --tier 1 --cwd /srv --json "ls > out"

Exits with 0 if it is allowed, 1 if it is refused, 2 if it cannot be said. Without --tier only what no tier may do is
refused. What has been done before is not counted here: a cooldown refuses only what is too much by itself.`

interface Options {
  tier?: number
  cwd?: string
}

export function define(command: Command, context: CliContext): void {
  command.description('Says what agents may run.').addHelpText('after', EXAMPLES)
  command
    .command('check')
    .summary('say whether a command may run')
    .description('Says whether a command may run, and why not. Nothing is run.')
    .argument('<command>', 'a text for the shell, in quotes')
    .option('--tier <number>', 'the tier it would run at', tierNumber)
    .option('--cwd <dir>', 'the directory it would run in (default: this one)')
    .addHelpText('after', EXAMPLES)
    .action((text: string, options: Options) => check(text, options, context))
}

async function check(text: string, { tier, cwd = '.' }: Options, context: CliContext): Promise<void> {
  const workDir = resolve(context.cwd, cwd)
  if (!statSync(workDir, { throwIfNoEntry: false })?.isDirectory()) {
    throw usageError(`${workDir} is not a directory`, 'Give --cwd a directory that exists.')
  }
  if (text.trim() === '') throw usageError('there is no command to check', 'Give it one, in quotes.')
  const config = readConfig(workDir, context)
  if (tier !== undefined && !config.tiers[String(tier)]) {
    throw usageError(`there is no tier ${tier}`, `Tiers: ${Object.keys(config.tiers).join(', ')}`)
  }
  const { askPolicy } = await import('../../daemon/policy.ts')
  const answer = askPolicy(config, tier, { command: text, cwd: workDir, env: context.env })
  const allowed = answer.decision === 'allow'
  context.exitCode = allowed ? EXIT.done : EXIT.failed
  if (context.json) return printJson(context, { ...answer, tier: tier ?? null })
  const style = styleFor(context.stdout, context.env)
  await printLine(
    context,
    allowed && answer.reason === 'Allowed.'
      ? style.green('allowed')
      : `${allowed ? style.green('allowed') : style.red('refused')}: ${style.safe(answer.reason)}`,
  )
  for (const { why, text: what } of answer.opaque) {
    notify(context, style.safe(`cannot be seen: ${why}: ${what.split('\n')[0] ?? ''}`))
  }
}

/** That it is wrong is no refusal: scripts must be able to tell. */
function readConfig(workDir: string, context: CliContext): Config {
  try {
    return loadConfig({ home: homeOf(context), cwd: workDir, env: context.env }).config
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error
    throw usageError(error.message, error.hint)
  }
}

function tierNumber(text: string): number {
  if (!/^[1-9]$/.test(text)) throw new InvalidArgumentError('A tier is a number from 1 to 9.')
  return Number(text)
}
