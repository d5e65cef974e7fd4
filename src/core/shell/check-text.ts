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
import type { Policy } from './policy.ts'
import { readShell } from './read.ts'
import { baseName, type PlainCommand, type ShellReading, showCommand, type Unclear } from './reading.ts'
import { rootRefusal } from './roots.ts'

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
export function checkText(text: string, cwd: string, policy: Policy, machine: CallFacts): TextDecision {
  const facts = { ...machine, realPath: remembered(machine.realPath), exists: remembered(machine.exists) }
  const reading = readShell(text)
  const started = reading.commands.filter(({ argv }) => argv.length > 0)
  const answer = {
    commands: started.map(showCommand),
    unclear: reading.unclear,
    brokered: brokeredIn(reading, policy),
  }
  const refusal =
    firstOf(reading.commands, (command) => rootRefusal(command, cwd, facts)) ??
    REFUSALS[policy.enforcement](text, reading, cwd, policy, facts)
  if (refusal) return { ...answer, decision: 'deny', ...refusal, looks: false, actions: [] }
  const looks =
    reading.unclear.length === 0 &&
    reading.commands.every((command) => merelyLooks(command, policy, cwd, facts))
  const actions =
    policy.enforcement === 'kernel'
      ? []
      : started.flatMap((command) =>
          onlyLooks(command) ? [] : judgeCommand(command, policy.forbidding, cwd, facts).actions,
        )
  return { ...answer, decision: 'allow', reason: allowedReason(reading, policy), looks, actions }
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
  policy: Policy,
  facts: CallFacts,
) => Refusal | undefined

const REFUSALS: Record<Policy['enforcement'], Refuse> = {
  kernel: (_, { commands }, cwd, policy, facts) =>
    firstOf(
      commands,
      (command) =>
        brokerRefusal(command, cwd, policy, facts) ??
        protectedChange(command, policy, { cwd, facts }) ??
        hiddenRefusal(command, cwd, policy, facts) ??
        (isBrokered(command, policy) ? undefined : forbiddenPattern(command, policy)),
    ),
  advisory: (text, reading, cwd, policy, facts) => {
    const refusal =
      firstOf(reading.commands, (command) => forbidden(command, policy, cwd, facts)) ??
      forbiddenMention(text, reading, policy)
    if (refusal || !policy.restricts) return refusal
    const [unclear] = reading.unclear
    if (unclear)
      return {
        reason: `What this starts cannot be checked: it ${unclear.why}. At tier ${policy.tier} only commands that are written out may run; write them out.`,
        rule: 'opaque',
      }
    return firstOf(reading.commands, (command) => notAllowed(command, policy, cwd, facts))
  },
}

/** What the broker would refuse, as far as it is certain where the command runs and what it is given. */
function brokerRefusal(
  command: PlainCommand,
  cwd: string,
  policy: Policy,
  facts: CallFacts,
): Refusal | undefined {
  if (!isBrokered(command, policy)) return undefined
  const rules = command.openEnded ? policy.forbidding : policy.rules
  const refusal = judgeCommand(command, rules, cwd, facts).refusedEverywhere
  // Which service is meant may be one of the arguments that are added.
  return command.openEnded && refusal?.rule.startsWith('cooldowns.') ? undefined : refusal
}

/** A plain command that reads what the sandbox hides would only be told that there is no such file. */
function hiddenRefusal(command: PlainCommand, cwd: string, policy: Policy, facts: CallFacts) {
  const name = baseName(command.argv[0] ?? '')
  return PRINTING.has(name) || isBrokered(command, policy)
    ? undefined
    : hiddenWord(command, policy, cwd, facts)
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

function isBrokered({ argv }: PlainCommand, { brokered }: Policy): boolean {
  const [program = '', ...args] = argv
  const name = baseName(program)
  return brokered.has(name) && (name !== 'git' || talksToRemote(args))
}

const brokeredIn = ({ commands }: ShellReading, policy: Policy) => [
  ...new Set(
    commands.filter((command) => isBrokered(command, policy)).map(({ argv }) => baseName(argv[0] ?? '')),
  ),
]

/** Files below /tmp may be written. */
function merelyLooks(command: PlainCommand, policy: Policy, cwd: string, facts: CallFacts): boolean {
  if (command.opaque !== null || command.assignments.some(isSteering)) return false
  const observer = { tier: policy.tier, mayWrite: false }
  if (redirectedTo(command).length > 0 && changeElsewhere({ ...command, argv: [] }, observer, { cwd, facts }))
    return false
  if (command.argv.length === 0 || onlyLooks(command)) return true
  if (command.openEnded || command.elevated) return false
  return isBrokered(command, policy) && judgeCommand(command, policy.forbidding, cwd, facts).looks
}

function allowedReason({ unclear, commands }: ShellReading, { enforcement }: Policy): string {
  const why = unclear[0]?.why ?? commands.find(({ opaque }) => opaque !== null)?.opaque
  if (why === undefined || why === null || enforcement === 'kernel') return 'Allowed.'
  return `Allowed, although something it starts cannot be seen: it ${why}.`
}
