/** `reprise policy check`: checks a command against the configuration, without the daemon. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { loadConfig } from '../../config/load.ts'
import { tierEntries } from '../../config/policy-schema.ts'
import { configError } from '../../config/problem.ts'
import { findProjectFile, type ProjectFile } from '../../config/project.ts'
import type { Config } from '../../config/schema.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { PolicyAnswer } from '../../library/policy.ts'
import { tierNumber } from '../base/arguments.ts'
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

Exits with 0 if the command is allowed, 1 if it is refused, 2 if the check failed. Without --tier, only commands that no
tier may run are refused. Earlier actions are not counted: a cooldown refuses only what exceeds its limit by itself.

Only what is plainly written in the command is understood. Where the machine has a sandbox, everything else is left to
it and to the broker, which judges programs such as docker when they start. Without one the check is advisory.`

interface Options {
  tier?: number
  cwd?: string
  enforcement?: 'kernel' | 'advisory'
}

export function define(command: Command, context: CliContext): void {
  command.description('Shows what agents may run.').addHelpText('after', EXAMPLES)
  command
    .command('check')
    .summary('check whether a command may run')
    .description('Checks whether a command may run, and shows why not. Nothing is executed.')
    .argument('<command>', 'a shell command, in quotes')
    .option('--tier <number>', 'tier at which it would run', tierNumber)
    .option('--cwd <dir>', 'directory in which it would run (default: the current one)')
    .addOption(
      new Option(
        '--enforcement <kind>',
        'check as with a sandbox (kernel), or as without one (default: what this machine has)',
      ).choices(['kernel', 'advisory']),
    )
    .addHelpText('after', EXAMPLES)
    .action((text: string, options: Options) => check(text, options, context))
}

async function check(
  text: string,
  { tier, cwd = '.', enforcement: asked }: Options,
  context: CliContext,
): Promise<void> {
  const workDir = resolve(context.cwd, cwd)
  if (!statSync(workDir, { throwIfNoEntry: false })?.isDirectory()) {
    throw usageError(`${workDir} is not a directory`, 'Give --cwd a directory that exists.')
  }
  if (text.trim() === '') throw usageError('the command is empty', 'Give a shell command in quotes.')
  const config = readConfig(workDir, context)
  const numbers = tierEntries(config.tiers).map(([number]) => number)
  if (tier !== undefined && !numbers.includes(String(tier))) {
    throw usageError(`there is no tier ${tier}`, `Tiers: ${numbers.join(', ')}`)
  }
  const { askPolicy } = await import('../../library/policy.ts')
  const { env } = context
  const enforcement = asked ?? (await findEnforcement(env, config))
  const answer = askPolicy(config, tier, {
    command: text,
    cwd: workDir,
    home: homeOf(context),
    env,
    enforcement,
  })
  const allowed = answer.decision === 'allow'
  context.exitCode = allowed ? EXIT.done : EXIT.failed
  if (context.json) return printJson(context, { ...answer, tier: tier ?? null })
  const style = styleFor(context.stdout, env)
  await printLine(
    context,
    allowed && answer.reason === 'Allowed.'
      ? style.green('allowed')
      : `${allowed ? style.green('allowed') : style.red('refused')}: ${style.safe(answer.reason)}`,
  )
  if (answer.rule !== undefined) await printLine(context, `rule: ${style.safe(answer.rule)}`)
  await printLine(context, style.safe(holder(answer)))
  for (const { why, text: what } of answer.unclear)
    notify(context, style.safe(`not written out: it ${why}: ${what.split('\n')[0] ?? ''}`))
}

async function findEnforcement(env: CliContext['env'], { run }: Config): Promise<'kernel' | 'advisory'> {
  const { probeSandbox } = await import('../../library/probe.ts')
  return (await probeSandbox(env, run.sandboxKind)).kind === 'none' ? 'advisory' : 'kernel'
}

/** Who holds the rules when the command really runs. */
function holder({ enforcement, decision, brokered }: PolicyAnswer): string {
  if (enforcement === 'advisory') return 'advisory: without a sandbox, only the text of a command is checked'
  if (decision === 'deny') return 'refused early; the sandbox and the broker would refuse it, too'
  const judged = brokered.length > 0 ? `; ${brokered.join(', ')}: judged when started` : ''
  return `runs in the sandbox${judged}`
}

/** An invalid configuration is reported as wrong usage, so that scripts can tell it from a refusal. */
function readConfig(workDir: string, context: CliContext): Config {
  try {
    const { config } = loadConfig({ home: homeOf(context), cwd: workDir, env: context.env })
    return withProject(config, findProjectFile(workDir))
  } catch (error) {
    if (!(error instanceof RepriseError)) throw error
    throw usageError(error.message, error.hint)
  }
}

/** As if the directory were trusted: its rules can only forbid more. */
function withProject(config: Config, project: ProjectFile | null): Config {
  if (project === null) return config
  if (project.problems.length > 0) throw configError(project.problems)
  const { policy, dryRun } = project.limits
  return {
    ...config,
    dryRun: config.dryRun || dryRun === true,
    policy: {
      never: [...config.policy.never, ...(policy?.never ?? [])],
      protectedPaths: [...config.policy.protectedPaths, ...(policy?.protectedPaths ?? [])],
    },
  }
}
