/**
 * Whether a shell text may run.
 *
 * Where the kernel enforces the rules, this is a courtesy: a command that is plainly written and would be refused by the
 * broker, or by the rules for files, is refused early, with the reason. Everything else is left to sandbox and broker.
 *
 * Without a sandbox the answer is advisory, and strict: at a tier with an `allow` list every command must be written out
 * and only look, or be allowed. At other tiers a text that cannot be read is refused if it speaks of something forbidden.
 */
import type { CallFacts, Refusal } from '../rules/call.ts'
import type { Action } from '../rules/cooldown.ts'
import { talksToRemote } from '../rules/git-remote.ts'
import { forbidden, forbiddenMention, forbiddenPattern, hiddenWord, notAllowed } from './advisory.ts'
import { redirectedTo } from './changes.ts'
import { changeElsewhere, protectedChange } from './file-rules.ts'
import { judgeCommand } from './judge-command.ts'
import { isSteering, onlyLooks } from './looking.ts'
import { readShell } from './read.ts'
import { baseName, type PlainCommand, type ShellReading, showCommand, type Unclear } from './reading.ts'
import { rootRefusal } from './roots.ts'
import type { ToolRules } from './tool-rules.ts'

export interface TextDecision {
  decision: 'allow' | 'deny'
  /** For the agent: what is wrong, and what it can do instead. */
  reason: string
  /** The pattern or the kind of rule that decided. */
  rule?: string
  /** Commands that are written out in the text. */
  commands: string[]
  /** Parts of the text that cannot be read without running it. */
  unclear: readonly Unclear[]
  /** Programs in the text that the broker judges when they start. */
  brokered: string[]
  /** Everything is written out and only looks. */
  looks: boolean
  /** What it would do that has a cooldown. Empty where the broker counts. */
  actions: Action[]
}

/** `cwd`: where the text starts, symbolic links resolved. */
export function checkText(text: string, cwd: string, rules: ToolRules, machine: CallFacts): TextDecision {
  const facts = { ...machine, realPath: remembered(machine.realPath), exists: remembered(machine.exists) }
  const reading = readShell(text)
  const started = reading.commands.filter(({ argv }) => argv.length > 0)
  const answer = {
    commands: started.map(showCommand),
    unclear: reading.unclear,
    brokered: brokeredIn(reading, rules),
  }
  const refusal =
    firstOf(reading.commands, (command) => rootRefusal(command, cwd, facts)) ??
    REFUSALS[rules.enforcement](text, reading, cwd, rules, facts)
  if (refusal) return { ...answer, decision: 'deny', ...refusal, looks: false, actions: [] }
  const looks =
    reading.unclear.length === 0 &&
    reading.commands.every((command) => merelyLooks(command, rules, cwd, facts))
  const actions =
    rules.enforcement === 'kernel'
      ? []
      : started.flatMap((command) =>
          onlyLooks(command) ? [] : judgeCommand(command, rules.forbidding, cwd, facts).actions,
        )
  return { ...answer, decision: 'allow', reason: allowedReason(reading, rules), looks, actions }
}

/** Asks the file system once about each path: files do not change while one text is checked. */
function remembered<T>(ask: (path: string) => T): (path: string) => T {
  const answers = new Map<string, T>()
  return (path) => {
    const known = answers.get(path)
    if (known !== undefined) return known
    const answer = ask(path)
    answers.set(path, answer)
    return answer
  }
}

type Refuse = (
  text: string,
  reading: ShellReading,
  cwd: string,
  rules: ToolRules,
  facts: CallFacts,
) => Refusal | undefined

const REFUSALS: Record<ToolRules['enforcement'], Refuse> = {
  kernel: (_, { commands }, cwd, rules, facts) =>
    firstOf(
      commands,
      (command) =>
        brokerRefusal(command, cwd, rules, facts) ??
        protectedChange(command, rules, { cwd, facts }) ??
        hiddenRefusal(command, cwd, rules, facts) ??
        (isBrokered(command, rules) ? undefined : forbiddenPattern(command, rules)),
    ),
  advisory: (text, reading, cwd, rules, facts) => {
    const refusal =
      firstOf(reading.commands, (command) => forbidden(command, rules, cwd, facts)) ??
      forbiddenMention(text, reading, rules)
    if (refusal || !rules.restricts) return refusal
    const [unclear] = reading.unclear
    if (unclear)
      return {
        reason: `What this starts cannot be checked: it ${unclear.why}. At tier ${rules.tier} only commands that are written out may run; write them out.`,
        rule: 'opaque',
      }
    return firstOf(reading.commands, (command) => notAllowed(command, rules, cwd, facts))
  },
}

/** What the broker would refuse, as far as it is certain where the command runs and what it is given. */
function brokerRefusal(
  command: PlainCommand,
  cwd: string,
  rules: ToolRules,
  facts: CallFacts,
): Refusal | undefined {
  if (!isBrokered(command, rules)) return undefined
  const applied = command.openEnded ? rules.forbidding : rules.calls
  const refusal = judgeCommand(command, applied, cwd, facts).refusedEverywhere
  // Which service is meant may be one of the arguments that are added.
  return command.openEnded && refusal?.rule.startsWith('cooldowns.') ? undefined : refusal
}

/** A plain command that reads what the sandbox hides would only be told that there is no such file. */
function hiddenRefusal(command: PlainCommand, cwd: string, rules: ToolRules, facts: CallFacts) {
  const name = baseName(command.argv[0] ?? '')
  return PRINTING.has(name) || isBrokered(command, rules) ? undefined : hiddenWord(command, rules, cwd, facts)
}

/** They print their arguments and open no file. */
const PRINTING = new Set(['echo', 'printf'])

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

function isBrokered({ argv }: PlainCommand, { brokered }: ToolRules): boolean {
  const [program = '', ...args] = argv
  const name = baseName(program)
  return brokered.has(name) && (name !== 'git' || talksToRemote(args))
}

const brokeredIn = ({ commands }: ShellReading, rules: ToolRules) => [
  ...new Set(
    commands.filter((command) => isBrokered(command, rules)).map(({ argv }) => baseName(argv[0] ?? '')),
  ),
]

/** Files below /tmp may be written. */
function merelyLooks(command: PlainCommand, rules: ToolRules, cwd: string, facts: CallFacts): boolean {
  if (command.opaque !== null || command.assignments.some(isSteering)) return false
  const observer = { tier: rules.tier, mayWrite: false }
  if (redirectedTo(command).length > 0 && changeElsewhere({ ...command, argv: [] }, observer, { cwd, facts }))
    return false
  if (command.argv.length === 0 || onlyLooks(command)) return true
  if (command.openEnded || command.elevated) return false
  return isBrokered(command, rules) && judgeCommand(command, rules.forbidding, cwd, facts).looks
}

function allowedReason({ unclear, commands }: ShellReading, { enforcement }: ToolRules): string {
  const why = unclear[0]?.why ?? commands.find(({ opaque }) => opaque !== null)?.opaque
  if (why === undefined || why === null || enforcement === 'kernel') return 'Allowed.'
  return `Allowed, although something it starts cannot be seen: it ${why}.`
}
