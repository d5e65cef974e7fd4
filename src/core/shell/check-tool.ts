/**
 * Whether an agent may make a tool call, judged by the neutral description that its adapter gives. What a shell text
 * would do to services is returned besides; whether there is room for that under the cooldowns, the store knows.
 */
import type { MaybeDescribed } from '../../contract/tool.ts'
import type { CallFacts } from '../rules/call.ts'
import type { Action } from '../rules/cooldown.ts'
import { checkText } from './check-text.ts'
import { isDetour, normalize, placesOf } from './paths.ts'
import { protectedBy } from './protected-paths.ts'
import type { Unclear } from './reading.ts'
import { hasTool, hasWritingTool, names, toolIsKnownToLook } from './tool-names.ts'
import type { ToolRules } from './tool-rules.ts'

export interface ToolCall {
  tool: string
  /** As the agent gave it: nothing about it is certain. */
  input: unknown
  /** Where the agent is. */
  cwd: string
  /** What the agent's adapter says about the call. */
  described: MaybeDescribed
}

export interface ToolDecision {
  decision: 'allow' | 'deny'
  /** For the agent: what is wrong, and what it can do instead. */
  reason: string
  /** The pattern or the kind of rule that decided. */
  rule?: string
  /** Refused only because nothing is to be changed; the rules allow it. */
  dryRun?: true
  /** Commands that are written out in a shell text. */
  commands: string[]
  /** Parts of a shell text that cannot be read without running it. */
  unclear: readonly Unclear[]
  /** Programs in a shell text that the broker judges when they start. */
  brokered: string[]
  /** What it would do that has a cooldown. Empty where the broker counts. */
  actions: Action[]
}

export function checkTool(
  call: ToolCall,
  rules: ToolRules,
  facts: CallFacts,
  { dryRun = false }: { dryRun?: boolean } = {},
): ToolDecision {
  try {
    return decide(call, rules, facts, dryRun)
  } catch (error) {
    // Whatever goes wrong here, it must not let anything through.
    const why = error instanceof Error ? error.message : String(error)
    return denied(`${call.tool} could not be checked (${why}). Do it in a simpler way.`, 'unreadable')
  }
}

function decide(call: ToolCall, rules: ToolRules, facts: CallFacts, dryRun: boolean): ToolDecision {
  const { tool, described } = call
  const missing = withoutTool(tool, rules)
  if (missing) return missing
  switch (described.kind) {
    case 'shell':
      return checkShell(call, rules, facts, dryRun)
    case 'write': {
      const refusal = checkWritten(call, rules, facts)
      if (refusal) return refusal
      break
    }
    case 'read': {
      const refusal = checkRead(call, rules, facts)
      if (refusal) return refusal
      break
    }
    case 'agent': {
      const refusal = checkIsolation(call, rules, dryRun)
      if (refusal) return refusal
      break
    }
    case undefined:
      return denied(`What ${tool} would do is not known. Do without it.`, 'input')
  }
  if (dryRun && !toolIsKnownToLook(tool) && described.kind !== 'read')
    return onlyRehearsed(`using ${tool}`, rules)
  return { ...NOTHING, decision: 'allow', reason: 'Allowed.' }
}

const NOTHING = { commands: [], unclear: [], brokered: [], actions: [] }

function denied(reason: string, rule: string): ToolDecision {
  return { ...NOTHING, decision: 'deny', reason, rule }
}

function onlyRehearsed(what: string, { tier }: ToolRules): ToolDecision {
  const where = tier === undefined ? 'the rules' : `tier ${tier}`
  return {
    ...denied(
      `This is a dry run, so nothing may be changed: ${what} would have been allowed at ${where}. Do not try it in another way; say in your report that you would have done it, and why.`,
      'dry-run',
    ),
    dryRun: true,
  }
}

function withoutTool(tool: string, { tier, tools, deniedTools }: ToolRules): ToolDecision | undefined {
  if (tier === undefined || hasTool(tools, deniedTools, tool)) return undefined
  const how = names(deniedTools, tool) ? 'is denied' : 'is not one of the tools'
  return denied(
    `${tool} ${how} at tier ${tier}. Do without it, and recommend escalation if it is needed.`,
    'tools',
  )
}

function checkShell(
  { tool, described: { command }, cwd }: ToolCall,
  rules: ToolRules,
  facts: CallFacts,
  dryRun: boolean,
): ToolDecision {
  if (command === undefined) return denied(`${tool} was given no command. Give it one.`, 'input')
  const { looks, ...answer } = checkText(command, facts.realPath(cwd), rules, facts)
  if (answer.decision === 'deny' || !dryRun || looks) return answer
  return { ...answer, ...onlyRehearsed(`\`${command}\``, rules), ...pickFound(answer) }
}

/** A dry run still says what would have been done. */
const pickFound = ({ commands, unclear, brokered, actions }: ToolDecision) => ({
  commands,
  unclear,
  brokered,
  actions,
})

/** A sandbox would hide these files. */
function checkRead(
  { tool, cwd, described: { paths = [] } }: ToolCall,
  { tier }: ToolRules,
  facts: CallFacts,
): ToolDecision | undefined {
  if (tier === undefined) return undefined
  const hidden = paths.find((path) => placesOf(path.trim(), ['.'], cwd, facts).some(facts.isHidden))
  return hidden === undefined
    ? undefined
    : denied(`${tool} cannot read ${hidden}: it is hidden from agents. Do without it.`, 'hidden')
}

/** A tool that changes files and names none cannot be checked. */
function checkWritten(
  { tool, cwd, described: { paths = [] } }: ToolCall,
  rules: ToolRules,
  facts: CallFacts,
): ToolDecision | undefined {
  if (paths.length === 0) return denied(`${tool} was given no path. Give it one.`, 'input')
  for (const given of paths) {
    if (given.trim() === '' || given.includes('\0'))
      return denied(`${tool} was given no path that can be understood. Give it one.`, 'input')
    // As it stands, and as an agent may read it: without blanks around it, in the composed form of Unicode.
    for (const path of new Set([given, given.trim(), given.trim().normalize('NFC')])) {
      const refusal = checkPath(tool, path, facts.realPath(cwd), rules, facts)
      if (refusal) return refusal
    }
  }
  return undefined
}

function checkPath(
  tool: string,
  given: string,
  cwd: string,
  { protectedPaths }: ToolRules,
  facts: CallFacts,
): ToolDecision | undefined {
  if (isDetour(given) || isDetour(normalize(`${cwd}/${given}`)))
    return denied(`${tool} would change ${given}, which may lead anywhere. Write the path out.`, 'detour')
  for (const path of placesOf(given, [''], cwd, facts)) {
    const pattern = protectedBy({ path, deep: false }, protectedPaths, facts.exists)
    if (pattern !== undefined)
      return denied(
        `${tool} would change ${path}, which is protected (${pattern}). Leave it as it is, or ask a person.`,
        pattern,
      )
  }
  return undefined
}

/** An agent in a place of its own has a work tree and a branch made for it, or is where nobody asks us. */
function checkIsolation(
  { tool, input }: ToolCall,
  rules: ToolRules,
  dryRun: boolean,
): ToolDecision | undefined {
  const isolation = valueIn(input, 'isolation')
  if (isolation === undefined || isolation === null || isolation === '') return undefined
  if (isolation !== 'worktree')
    return denied(
      `${tool} with isolation ${JSON.stringify(isolation)} works where nothing can be checked. Leave isolation out.`,
      'isolation',
    )
  const { tier, tools, deniedTools } = rules
  if (tier !== undefined && !hasWritingTool(tools, deniedTools))
    return denied(
      `${tool} with isolation makes a work tree and a branch, and tier ${tier} may not write files. Leave isolation out.`,
      'isolation',
    )
  return dryRun ? onlyRehearsed(`${tool} with a work tree of its own`, rules) : undefined
}

function valueIn(input: unknown, key: string): unknown {
  if (typeof input !== 'object' || input === null) return undefined
  return Object.entries(input).find(([name]) => name === key)?.[1]
}
