/**
 * Whether a shell text may run. Every command it would start is held against the rules; what is forbidden is looked
 * for generously, what is allowed is recognised only when it is certain.
 */
import { notAllowed } from './allowed.ts'
import { withinBudget } from './budget.ts'
import {
  askingOnce,
  type Extraction,
  type Opaque,
  type SimpleCommand,
  type Surroundings,
  showCommand,
} from './command.ts'
import { forbidden, mentioned, type Refusal } from './forbidden.ts'
import { onlyLooks } from './observe.ts'
import type { Policy } from './policy.ts'
import { extractCommands } from './walk.ts'

export interface PolicyDecision {
  decision: 'allow' | 'deny'
  /** For the agent: what is wrong, and what it can do instead. */
  reason: string
  /** The pattern or the kind of rule that decided. */
  rule?: string
  /** Everything the text would start. */
  commands: string[]
  /** What it starts that cannot be seen. */
  opaque: Opaque[]
}

const LONGEST = 100_000

export function checkCommand(text: string, policy: Policy, surroundings: Surroundings): PolicyDecision {
  return examineCommand(text, policy, surroundings).decision
}

export interface Examination {
  decision: PolicyDecision
  /** What was found in the text, if it could be read. */
  found?: Extraction
}

/** As `checkCommand`, with what the decision is about. */
export function examineCommand(text: string, policy: Policy, surroundings: Surroundings): Examination {
  if (text.length > LONGEST) return { decision: unreadable(`it is longer than ${LONGEST} characters`) }
  try {
    return withinBudget(() => {
      const found = extractCommands(text, surroundings)
      return { decision: decide(text, found, policy, askingOnce(surroundings)), found }
    })
  } catch (error) {
    // Whatever goes wrong here, it must not let anything through.
    return { decision: unreadable(error instanceof Error ? error.message : 'it could not be checked') }
  }
}

function unreadable(why: string): PolicyDecision {
  const reason = `The command cannot be read as a whole (${why}). Correct it or split it up.`
  return { decision: 'deny', reason, rule: 'unreadable', commands: [], opaque: [] }
}

function decide(text: string, found: Extraction, policy: Policy, surroundings: Surroundings): PolicyDecision {
  const { commands, opaque } = found
  const refusal = firstRefusal(text, found, policy, surroundings)
  const shown = commands.map(showCommand)
  if (refusal)
    return { decision: 'deny', reason: refusal.reason, rule: refusal.rule, commands: shown, opaque }
  const reason = opaque[0]
    ? `Allowed, although something it starts cannot be seen: it ${opaque[0].why}.`
    : 'Allowed.'
  return { decision: 'allow', reason, commands: shown, opaque }
}

const OBSERVER = { tier: 'any', mayWrite: false, allowing: new Map() }

/** Whether all that the text starts can be seen and merely looks. Files below /tmp may be written. */
export function observes({ commands, opaque }: Extraction, surroundings: Surroundings): boolean {
  return (
    opaque.length === 0 &&
    commands.every((command) => !notAllowed(command, OBSERVER, onlyLooks(command), surroundings))
  )
}

const opensFile = ({ redirects }: SimpleCommand) =>
  redirects.length > 0 && redirects.some(({ writes }) => !writes)

function firstRefusal(
  source: string,
  { commands, opaque, error }: Extraction,
  policy: Policy,
  surroundings: Surroundings,
): Refusal | undefined {
  const looking: boolean[] = []
  const whole = { source, commands, opens: commands.some(opensFile) }
  for (const command of commands) {
    const looks = onlyLooks(command)
    looking.push(looks)
    const refusal = forbidden(command, policy, looks, surroundings, whole)
    if (refusal) return refusal
  }
  const ruled = policy.tier !== undefined || policy.forbidding.length > 0
  for (const { text, why, settings } of opaque) {
    if (settings && ruled) {
      return {
        reason: `This ${why}: what it tells git may start a program or change what is pushed. Do without it, or ask a person.`,
        rule: 'git-config',
      }
    }
    const refusal = mentioned(text, source, why, policy)
    if (refusal) return refusal
  }
  // Read by the shell in another way than by us, it could start anything.
  if (error) return { reason: unreadable(error).reason, rule: 'unreadable' }
  if (!policy.restricts) return undefined
  const [first] = opaque
  if (first) {
    return {
      reason: `What this starts cannot be checked: it ${first.why}. At tier ${policy.tier} only commands that are written out may run; write them out.`,
      rule: 'opaque',
    }
  }
  for (let index = 0; index < commands.length; index++) {
    const command = commands[index] as SimpleCommand
    const refusal = notAllowed(command, policy, looking[index] === true, surroundings)
    if (refusal) return refusal
  }
  return undefined
}
