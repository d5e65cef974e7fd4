/** The options of `reprise run`, and the API request for them. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ChangePolicy } from '../../contract/checkpoint.ts'
import type { CreateJob } from '../../contract/create-job.ts'
import type { PermissionMode } from '../../contract/create-run.ts'
import { amount, between, durationBetween, priority } from '../base/arguments.ts'
import { sessionArgument } from '../base/id-argument.ts'

export interface RunOptions {
  agent?: string
  model?: string
  cwd?: string
  session?: string
  freshSession?: boolean
  permissions?: PermissionMode
  sandbox?: boolean
  timeout?: number
  maxResumes?: number
  maxTurns?: number
  continue?: boolean
  maxTurnsTotal?: number
  maxBudgetUsd?: number
  maxBudgetTokens?: number
  priority?: number
  checkpoints?: boolean
  checkpointEvery?: number
  onChange?: ChangePolicy
  webhook?: string
  detach?: boolean
}

const MODES: readonly PermissionMode[] = ['ask-all', 'ask', 'edits', 'allow']
const POLICIES: readonly ChangePolicy[] = ['continue', 'restore', 'stop']

export function addRunOptions(command: Command): Command {
  command
    .option('--agent <name>', 'agent to use (default: the first one configured)')
    .option('--model <name>', 'model to use')
    .option('--cwd <dir>', 'work directory (default: the current one)')
    .option('--session <id>', 'continue this session, if that is safe', sessionArgument)
    .option('--fresh-session', 'start a new session instead of continuing one')
    .addOption(permissionsOption())
  return addSandboxOptions(command)
    .option(
      '--timeout <duration>',
      'interrupt an attempt after this time, such as 30m or 2h',
      durationBetween('1s', '24d'),
    )
    .option('--max-resumes <n>', 'how often to resume after an interruption', between(0, 100))
    .option('--max-turns <n>', 'limit of turns per attempt', between(1, 10_000))
    .option('--continue', 'continue automatically after --max-turns, in the same session')
    .option(
      '--max-turns-total <n>',
      'with --continue: limit of turns in total (default: 10 times --max-turns)',
      between(1, 100_000),
    )
    .option('--max-budget-usd <amount>', 'pause the job when this much is spent', amount)
    .option(
      '--max-budget-tokens <n>',
      'pause the job when this many tokens are used',
      between(1, 1_000_000_000_000),
    )
    .option('--priority <n>', 'jobs with a higher priority start first (-100 to 100, default 0)', priority)
    .option('--checkpoints', 'save the git work tree as a checkpoint after each attempt')
    .option('--no-checkpoints', 'save no checkpoints, even if the configuration enables them')
    .option(
      '--checkpoint-every <duration>',
      'also save one this often while the agent works, such as 5m',
      durationBetween('1s', '1d'),
    )
    .addOption(
      new Option(
        '--on-change <policy>',
        'if others changed the work tree before a resume: tell the agent (continue), restore it (restore) or pause the job (stop)',
      ).choices(POLICIES),
    )
    .option('--webhook <url>', 'URL to notify when the job completes, fails or needs you')
    .option('--detach', 'print the id of the job and exit; the daemon runs it')
}

export function permissionsOption(): Option {
  return new Option(
    '--permissions <mode>',
    'which tool calls need your permission: ask-all, ask, edits or allow',
  ).choices(MODES)
}

export function addSandboxOptions(command: Command): Command {
  return command
    .option(
      '--sandbox',
      'run in a sandbox: only the work directory can be written, credentials are hidden; holds for later turns too',
    )
    .option('--no-sandbox', 'run outside again, although an earlier turn was asked to be in a sandbox')
}

export function toRequest(
  prompt: string,
  options: RunOptions,
  { cwd, sessionId }: { cwd: string; sessionId: CreateJob['sessionId'] },
): CreateJob {
  const request: { [K in keyof CreateJob]: CreateJob[K] | undefined } = {
    prompt,
    workDir: resolve(cwd, options.cwd ?? '.'),
    agent: options.agent,
    model: options.model,
    sessionId,
    forceFreshSession: options.freshSession,
    permissions: options.permissions,
    sandbox: options.sandbox,
    timeoutMs: options.timeout,
    maxResumes: options.maxResumes,
    maxTurns: options.maxTurns,
    continue: options.continue,
    maxTurnsTotal: options.maxTurnsTotal,
    maxBudgetUsd: options.maxBudgetUsd,
    maxBudgetTokens: options.maxBudgetTokens,
    priority: options.priority,
    checkpoints: checkpointsOf(options),
    webhook: options.webhook,
  }
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as CreateJob
}

/** Options about checkpoints also enable them. */
function checkpointsOf({ checkpoints, checkpointEvery, onChange }: RunOptions): CreateJob['checkpoints'] {
  if (checkpointEvery === undefined && onChange === undefined) return checkpoints
  if (checkpoints === false) {
    throw new InvalidArgumentError(
      '--no-checkpoints cannot be combined with --checkpoint-every or --on-change',
    )
  }
  return {
    ...(checkpointEvery === undefined ? {} : { everyMs: checkpointEvery }),
    ...(onChange === undefined ? {} : { onChange }),
  }
}
