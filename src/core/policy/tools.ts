/**
 * Whether an agent may use a tool as it wants to: any tool, at any tier. What a shell text would do to services is
 * said besides; whether there is room for that under the cooldowns, the store knows.
 */
import type { MaybeDescribed } from '../../contract/tool.ts'
import { actionsOf } from './actions.ts'
import { withinBudget } from './budget.ts'
import { examineCommand, observes } from './check.ts'
import type { Surroundings } from './command.ts'
import type { Action } from './cooldown.ts'
import { firstTouched } from './path-patterns.ts'
import { isDetour, namesRepository, pathsOf } from './paths.ts'
import type { Policy } from './policy.ts'
import { hasTool, names, toolIsKnownToLook } from './tool-names.ts'

export interface ToolCall {
  tool: string
  /** As the agent gave it: nothing about it is certain. */
  input: unknown
  /** Where the agent is. */
  cwd: string
  /** What the agent's adapter knows of it. */
  described?: MaybeDescribed
}

export interface ToolDecision {
  decision: 'allow' | 'deny'
  /** For the agent: what is wrong, and what it can do instead. */
  reason: string
  /** The pattern or the kind of rule that decided. */
  rule?: string
  /** Refused only because nothing is to be changed; the rules allow it. */
  dryRun?: true
  /** Everything that a shell text would start. */
  commands: string[]
  /** What it would do that has a cooldown. */
  actions: Action[]
}

export function checkTool(
  call: ToolCall,
  policy: Policy,
  surroundings: Omit<Surroundings, 'cwd'>,
  { dryRun = false }: { dryRun?: boolean } = {},
): ToolDecision {
  try {
    return withinBudget(() => decide(call, policy, surroundings, dryRun))
  } catch (error) {
    // Whatever goes wrong here, it must not let anything through.
    const why = error instanceof Error ? error.message : String(error)
    return denied(`${call.tool} could not be checked (${why}). Do it in a simpler way.`, 'unreadable')
  }
}

function decide(
  call: ToolCall,
  policy: Policy,
  surroundings: Omit<Surroundings, 'cwd'>,
  dryRun: boolean,
): ToolDecision {
  const { tool, described } = call
  const missing = withoutTool(tool, policy)
  if (missing) return missing
  const where = () => ({ ...surroundings, cwd: surroundings.realpath(call.cwd) })
  if (SHELL_TOOLS.has(tool) || described?.kind === 'shell') return checkShell(call, policy, where(), dryRun)
  const key = PATH_KEYS.get(tool)
  const refusal =
    key === undefined
      ? checkWritten(call, policy, where)
      : checkPath(call, { key, given: valueIn(call.input, key) }, policy, where())
  if (refusal) return refusal
  const isolated =
    AGENT_TOOLS.has(tool) || described?.kind === 'agent' ? checkIsolation(call, policy, dryRun) : undefined
  if (isolated) return isolated
  if (dryRun && !toolIsKnownToLook(tool) && described?.kind !== 'read')
    return onlyRehearsed(`using ${tool}`, policy)
  return { ...NOTHING, decision: 'allow', reason: 'Allowed.' }
}

/** Tools that are given a text for a shell. */
const SHELL_TOOLS = new Set(['Bash', 'Monitor'])

/** Tools that change a file, and where they are told which. */
const PATH_KEYS = new Map([
  ['Write', 'file_path'],
  ['Edit', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
])

/** Tools that start another agent. */
const AGENT_TOOLS = new Set(['Agent', 'Task'])

/** An agent of its own place has a work tree and a branch made for it, or is on a machine where nobody asks us. */
function checkIsolation(
  { tool, input }: ToolCall,
  policy: Policy,
  dryRun: boolean,
): ToolDecision | undefined {
  const isolation = valueIn(input, 'isolation')
  if (isolation === undefined || isolation === null || isolation === '') return undefined
  if (isolation !== 'worktree')
    return denied(
      `${tool} with isolation ${JSON.stringify(isolation)} works where nothing can be checked. Leave isolation out.`,
      'isolation',
    )
  const { tier, tools, deniedTools } = policy
  const mayWrite = ['Write', 'Edit'].some((name) => hasTool(tools, deniedTools, name))
  if (tier !== undefined && !mayWrite)
    return denied(
      `${tool} with isolation makes a work tree and a branch, and tier ${tier} may not write files. Leave isolation out.`,
      'isolation',
    )
  return dryRun ? onlyRehearsed(`${tool} with a work tree of its own`, policy) : undefined
}

const NOTHING = { commands: [], actions: [] }

function denied(reason: string, rule: string): ToolDecision {
  return { ...NOTHING, decision: 'deny', reason, rule }
}

function onlyRehearsed(what: string, { tier }: Policy): ToolDecision {
  const where = tier === undefined ? 'the policy' : `tier ${tier}`
  return {
    ...denied(
      `This is a dry run, so nothing may be changed: ${what} would have been allowed at ${where}. Do not try it in another way; say in your report that you would have done it, and why.`,
      'dry-run',
    ),
    dryRun: true,
  }
}

function withoutTool(tool: string, { tier, tools, deniedTools }: Policy): ToolDecision | undefined {
  if (tier === undefined || hasTool(tools, deniedTools, tool)) return undefined
  const how = names(deniedTools, tool) ? 'is denied' : 'is not one of the tools'
  return denied(
    `${tool} ${how} at tier ${tier}. Do without it, and recommend escalation if it is needed.`,
    'tools',
  )
}

function checkShell(
  { tool, input, described }: ToolCall,
  policy: Policy,
  surroundings: Surroundings,
  dryRun: boolean,
): ToolDecision {
  const command = described?.command ?? valueIn(input, 'command')
  if (typeof command !== 'string') return denied(`${tool} was given no command. Give it one.`, 'input')
  const { decision, found } = examineCommand(command, policy, surroundings)
  const { opaque: _, ...answer } = decision
  if (answer.decision === 'deny' || !found) return { ...answer, actions: [] }
  const { actions, unclear } = actionsOf(found, policy.cooldowns, surroundings)
  if (unclear) {
    const { reason, rule } = unclear
    return { ...denied(reason, `cooldowns.${rule}`), commands: answer.commands }
  }
  if (dryRun && !observes(found, surroundings))
    return { ...onlyRehearsed(`\`${command}\``, policy), commands: answer.commands, actions }
  return { ...answer, actions }
}

/** A tool that only its adapter knows to change files. One that names none cannot be checked. */
function checkWritten(call: ToolCall, policy: Policy, where: () => Surroundings): ToolDecision | undefined {
  if (call.described?.kind !== 'write') return undefined
  const { paths = [] } = call.described
  for (const given of paths.length > 0 ? paths : [undefined]) {
    const refusal = checkPath(call, { key: 'path', given }, policy, where())
    if (refusal) return refusal
  }
  return undefined
}

function checkPath(
  { tool }: ToolCall,
  { key, given }: { key: string; given: unknown },
  policy: Policy,
  surroundings: Surroundings,
): ToolDecision | undefined {
  if (typeof given !== 'string' || given.trim() === '' || given.includes('\0'))
    return denied(`${tool} was given no path that can be understood (${key}). Give it one.`, 'input')
  for (const text of formsOf(given, surroundings.home)) {
    if (isDetour(surroundings.cwd, text))
      return denied(`${tool} would change ${text}, which may lead anywhere. Write the path out.`, 'detour')
    const paths = pathsOf({ text }, [surroundings.cwd], surroundings)
    const touch = { deep: namesRepository(text), exists: surroundings.exists }
    const touched = firstTouched(policy.protectedPaths, paths, touch)
    if (touched) {
      const { path, pattern } = touched
      return denied(
        `${tool} would change ${path}, which is protected (${pattern.source}). Leave it as it is, or ask a person.`,
        pattern.source,
      )
    }
  }
  return undefined
}

/** As it stands, and as an agent may read it: without blanks around it, in the composed form of Unicode. */
function formsOf(given: string, home: string): Set<string> {
  const texts = [given, given.trim(), given.trim().normalize('NFC')]
  return new Set(texts.map((text) => (/^~(\/|$)/.test(text) ? home + text.slice(1) : text)))
}

function valueIn(input: unknown, key: string): unknown {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, key)) return undefined
  return (input as Record<string, unknown>)[key]
}
