/** The options of `reprise run`, and the request they make. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { ChangePolicy, CreateJob } from '../../contract/job.ts'
import type { PermissionMode } from '../../contract/run.ts'
import { amount, duration, priority, wholeNumber } from '../base/arguments.ts'

export interface RunOptions {
  agent?: string
  model?: string
  cwd?: string
  session?: string
  freshSession?: boolean
  permissions?: PermissionMode
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
  return command
    .option('--agent <name>', 'which agent (default: the first one configured)')
    .option('--model <name>', 'which of its models')
    .option('--cwd <dir>', 'work directory (default: this one)')
    .option('--session <id>', 'go on in this session, if that is safe')
    .option('--fresh-session', 'start a new session even if one could be continued')
    .addOption(permissionsOption())
    .option('--timeout <duration>', 'interrupt an attempt after this time, such as 30m or 2h', duration)
    .option('--max-resumes <n>', 'how often to go on after an interruption', wholeNumber)
    .option('--max-turns <n>', 'how many turns the agent may take at a time', wholeNumber)
    .option('--continue', 'go on by itself after --max-turns, in the same session')
    .option(
      '--max-turns-total <n>',
      'with --continue: how many turns in all (default: 10 times)',
      wholeNumber,
    )
    .option('--max-budget-usd <amount>', 'pause when this much is spent', amount)
    .option('--max-budget-tokens <n>', 'pause when this many tokens are used', wholeNumber)
    .option('--priority <n>', 'higher ones start first (-100 to 100, default 0)', priority)
    .option('--checkpoints', 'keep the state of the git work tree at the end of each attempt')
    .option('--no-checkpoints', 'do not, even if the configuration says so')
    .option('--checkpoint-every <duration>', 'and this often in between, such as 5m', duration)
    .addOption(
      new Option(
        '--on-change <policy>',
        'if the work tree was changed before it goes on: tell the agent (continue), put it back (restore) or pause (stop)',
      ).choices(POLICIES),
    )
    .option('--webhook <url>', 'told when the job is done, has failed or needs you')
    .option('--detach', 'print the id of the job and leave it to the daemon')
}

export function permissionsOption(): Option {
  return new Option(
    '--permissions <mode>',
    'who decides about tool calls: ask-all, ask, edits or allow',
  ).choices(MODES)
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

/** To say how they are to be made is to ask for them. */
function checkpointsOf({ checkpoints, checkpointEvery, onChange }: RunOptions): CreateJob['checkpoints'] {
  if (checkpointEvery === undefined && onChange === undefined) return checkpoints
  if (checkpoints === false) {
    throw new InvalidArgumentError('--no-checkpoints does not go with --checkpoint-every or --on-change')
  }
  return {
    ...(checkpointEvery === undefined ? {} : { everyMs: checkpointEvery }),
    ...(onChange === undefined ? {} : { onChange }),
  }
}
