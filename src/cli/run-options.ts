/** The options of `reprise run`, and the request they make. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDurationMs } from '../config/quantity.ts'
import type { CreateRun, PermissionMode } from '../contract/run.ts'

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
  maxBudgetUsd?: number
  detach?: boolean
}

const MODES: readonly PermissionMode[] = ['ask-all', 'ask', 'edits', 'allow']

export function addRunOptions(command: Command): Command {
  return command
    .option('--agent <name>', 'which agent (default: the first one configured)')
    .option('--model <name>', 'which of its models')
    .option('--cwd <dir>', 'work directory (default: this one)')
    .option('--session <id>', 'go on in this session, if that is safe')
    .option('--fresh-session', 'start a new session even if one could be continued')
    .addOption(permissionsOption())
    .option('--timeout <duration>', 'stop the run after this time, such as 30m or 2h', duration)
    .option('--max-resumes <n>', 'how often to continue after a crash', wholeNumber)
    .option('--max-turns <n>', 'how many turns the agent may take', wholeNumber)
    .option('--max-budget-usd <amount>', 'how much the agent may spend', amount)
    .option('--detach', 'print the id of the run and leave it to the daemon')
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
  { cwd, sessionId }: { cwd: string; sessionId: CreateRun['sessionId'] },
): CreateRun {
  const request: { [K in keyof CreateRun]: CreateRun[K] | undefined } = {
    prompt,
    workDir: resolve(cwd, options.cwd ?? '.'),
    agent: options.agent,
    model: options.model,
    sessionId,
    forceFreshSession: options.freshSession,
    permissions: options.permissions,
    maxDurationMs: options.timeout,
    maxResumes: options.maxResumes,
    maxTurns: options.maxTurns,
    maxBudgetUsd: options.maxBudgetUsd,
  }
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as CreateRun
}

function duration(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new InvalidArgumentError('Expected a duration such as 90s, 30m or 2h.')
  return ms
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Expected a whole number.')
  return Number(text)
}

function amount(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value > 0))
    throw new InvalidArgumentError('Expected an amount above 0, such as 2.50.')
  return value
}
