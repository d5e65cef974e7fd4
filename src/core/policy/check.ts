/**
 * Whether a shell text may run. Every command it would start is held against the rules; what is forbidden is looked
 * for generously, what is allowed is recognised only when it is certain.
 */
import {
  baseName,
  type Extraction,
  type Field,
  type Opaque,
  type SimpleCommand,
  type Surroundings,
  showCommand,
  UNKNOWN,
} from './command.ts'
import { onlyLooks } from './observe.ts'
import { textsOf } from './options.ts'
import { mayTouch, pathsOf } from './paths.ts'
import { type CommandPattern, type Forms, inOrder, mayMatch, surelyMatches } from './pattern.ts'
import type { Policy } from './policy.ts'
import { rootDeletion } from './roots.ts'
import { innerSubjectsOf, subjectOf, subjectsOf, USUAL_PLACE } from './subject.ts'
import { extractCommands } from './walk.ts'
import { writesOf } from './writes.ts'

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
    const found = extractCommands(text, surroundings)
    return { decision: decide(text, found, policy, surroundings), found }
  } catch (error) {
    // Whatever goes wrong here, it must not let anything through.
    return { decision: unreadable(error instanceof Error ? error.message : 'it could not be checked') }
  }
}

function unreadable(why: string): PolicyDecision {
  const reason = `The command cannot be read as a whole (${why}). Correct it or split it up.`
  return { decision: 'deny', reason, rule: 'unreadable', commands: [], opaque: [] }
}

function decide(
  text: string,
  { commands, opaque, error }: Extraction,
  policy: Policy,
  surroundings: Surroundings,
): PolicyDecision {
  const refusal = firstRefusal({ text, commands, opaque, error }, policy, surroundings)
  const listed = { commands: commands.map(showCommand), opaque }
  if (refusal) return { decision: 'deny', ...refusal, ...listed }
  const reason = opaque[0]
    ? `Allowed, although something it starts cannot be seen: it ${opaque[0].why}.`
    : 'Allowed.'
  return { decision: 'allow', reason, ...listed }
}

/** Whether all that the text starts can be seen and merely looks. Files below /tmp may be written. */
export function observes({ commands, opaque }: Extraction, surroundings: Surroundings): boolean {
  return (
    opaque.length === 0 &&
    commands.every((command) => !notAllowed(command, { tier: 'any', tools: [], allow: [] }, surroundings))
  )
}

type Refusal = { reason: string; rule: string }

interface Looked {
  text: string
  commands: readonly SimpleCommand[]
  opaque: readonly Opaque[]
  error: string | undefined
}

function firstRefusal(
  { text: source, commands, opaque, error }: Looked,
  policy: Policy,
  surroundings: Surroundings,
): Refusal | undefined {
  for (const command of commands) {
    const refusal = forbidden(command, policy, surroundings)
    if (refusal) return refusal
  }
  for (const { text, why } of opaque) {
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
  for (const command of commands) {
    const refusal = notAllowed(command, policy, surroundings)
    if (refusal) return refusal
  }
  return undefined
}

function forbidden(command: SimpleCommand, policy: Policy, surroundings: Surroundings): Refusal | undefined {
  const shown = () => showCommand(command)
  const deletion = rootDeletion(command, surroundings)
  if (deletion) return { reason: `\`${shown()}\` may never run: ${deletion}.`, rule: 'root-deletion' }
  const forms: Forms = (field) => (field.unknown ? [] : pathsOf(field, command.cwds, surroundings).paths)
  const subjects = [
    ...subjectsOf(command, surroundings),
    ...innerSubjectsOf(command, (program) => isPoliced(program, policy)),
  ]
  for (const [list, rule] of [
    [policy.never, 'never'],
    [policy.deny, 'deny'],
  ] as const) {
    const pattern = list.find((candidate) => subjects.some((subject) => mayMatch(candidate, subject, forms)))
    if (pattern) return { reason: refusedBy(pattern, rule, shown(), policy), rule: pattern.source }
  }
  return protectedWrite(command, policy, surroundings)
}

function isPoliced(program: string, { never, deny }: Policy): boolean {
  return (
    never.some((pattern) => pattern.program === program) ||
    deny.some((pattern) => pattern.program === program)
  )
}

function refusedBy(pattern: CommandPattern, rule: 'never' | 'deny', shown: string, policy: Policy): string {
  const doubt = shown.includes('…')
    ? ' A part of it is only known when it runs; write it out if it is something else.'
    : ''
  return rule === 'never'
    ? `\`${shown}\` may never run, at no tier (rule: ${pattern.source}).${doubt} Do without it, or ask a person.`
    : `\`${shown}\` may not run at tier ${policy.tier} (rule: ${pattern.source}).${doubt} Recommend escalation if it is needed.`
}

function protectedWrite(
  command: SimpleCommand,
  policy: Policy,
  surroundings: Surroundings,
): Refusal | undefined {
  if (policy.protectedPaths.length === 0) return undefined
  const isDirectory = (field: Field) =>
    /(^|\/)\.{0,2}$/.test(field.text) ||
    pathsOf(field, command.cwds, surroundings).paths.some((path) => surroundings.exists(`${path}/.`))
  for (const { target, deep } of writesOf(command, isDirectory)) {
    if (target.text === UNKNOWN || target.text === '') continue
    const { paths } = pathsOf(target, command.cwds, surroundings)
    for (const pattern of policy.protectedPaths) {
      const path = paths.find((candidate) =>
        mayTouch(candidate, pattern, { deep, exists: surroundings.exists }),
      )
      if (path !== undefined) {
        return {
          reason: `\`${showCommand(command)}\` would change ${path.replaceAll(UNKNOWN, '…')}, which is protected (${pattern.source}). Leave it as it is, or ask a person.`,
          rule: pattern.source,
        }
      }
    }
  }
  return undefined
}

/**
 * A program text cannot be followed, but what speaks of something forbidden is not run: the program itself, or what
 * stands around it, which may have written it.
 */
function mentioned(text: string, source: string, why: string, policy: Policy): Refusal | undefined {
  for (const pattern of [...policy.never, ...policy.deny]) {
    const words = [pattern.program, ...pattern.operands.filter((word) => word !== '*'), ...pattern.options]
    const written = words.filter((word) => !/[*?]/.test(word))
    if (words.length > 1 && [text, source].some((spoken) => inOrder(spoken, written))) {
      return {
        reason: `This ${why} and speaks of \`${pattern.source}\`, which is forbidden. Run what is allowed directly.`,
        rule: pattern.source,
      }
    }
  }
  for (const { source } of policy.protectedPaths) {
    const start = source.replace(/\/?[*?[].*$/, '')
    if (start.length > 2 && text.includes(start)) {
      return {
        reason: `This ${why} and speaks of ${start}, which is protected (${source}). Leave it as it is.`,
        rule: source,
      }
    }
  }
  return undefined
}

const SCRATCH = /^\/(tmp|var\/tmp|dev\/shm)\/./

function notAllowed(
  command: SimpleCommand,
  policy: Pick<Policy, 'tier' | 'tools' | 'allow'>,
  surroundings: Surroundings,
): Refusal | undefined {
  const isScratch = (field: Field) =>
    !field.unknown && pathsOf(field, command.cwds, surroundings).paths.every((path) => SCRATCH.test(path))
  const [name, ...args] = command.words
  if (!name) return undefined
  const shown = showCommand(command)
  const mayWrite = policy.tools.includes('Write') || policy.tools.includes('Edit')
  for (const { target } of mayWrite ? [] : writesOf({ ...command, words: [{ text: ':' }] }, () => false)) {
    if (!isScratch(target)) {
      return {
        reason: `\`${shown}\` writes to ${target.text.replaceAll(UNKNOWN, '…')}, and tier ${policy.tier} may not write files. Leave out the redirection, or write below /tmp.`,
        rule: 'write',
      }
    }
  }
  if (onlyLooks(command)) return undefined
  if (
    baseName(name.text) === 'tee' &&
    (mayWrite || args.every((arg) => isScratch(arg) || arg.text.startsWith('-') || arg.text === '/dev/null'))
  )
    return undefined
  const subject = subjectOf(
    baseName(name.text),
    name.text.includes('/') && !USUAL_PLACE.test(name.text),
    args,
  )
  if (policy.allow.some((pattern) => surelyMatches(pattern, subject))) return undefined
  const listed = policy.allow.filter(({ program }) => program === subject.program).map(({ source }) => source)
  const hint = listed.length > 0 ? ` Of ${subject.program} it may: ${listed.join(', ')}.` : ''
  return {
    reason: `\`${shown}\` is not allowed at tier ${policy.tier}: it does not merely look, and no rule allows it.${hint} Recommend escalation if it is needed.`,
    rule: textsOf(command.words.slice(0, 1))[0] ?? 'allow',
  }
}
