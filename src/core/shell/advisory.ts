/** The rules where there is no sandbox: what is forbidden is searched for generously, what is allowed must be certain. */
import type { CallFacts, Refusal } from '../rules/call.ts'
import { mayMatch } from '../rules/pattern.ts'
import { changedFiles, redirectedTo } from './changes.ts'
import { changeElsewhere, protectedChange, protectedWord } from './file-rules.ts'
import { judgeCommand } from './judge-command.ts'
import { isSteering, isUsualProgram, onlyLooks } from './looking.ts'
import { findMention } from './mentions.ts'
import { placesOf } from './paths.ts'
import { baseName, type PlainCommand, type ShellReading, showCommand } from './reading.ts'
import { isPlainEdit } from './sed-script.ts'
import type { ToolRules } from './tool-rules.ts'
import { shorten } from './words.ts'

/** What no command may do at this tier, whatever is allowed. */
export function forbidden(
  command: PlainCommand,
  rules: ToolRules,
  cwd: string,
  facts: CallFacts,
): Refusal | undefined {
  return (
    (onlyLooks(command) ? forbiddenPattern(command, rules) : forbiddenCall(command, rules, cwd, facts)) ??
    protectedChange(command, rules, { cwd, facts }) ??
    (rules.brokered.has(baseName(command.argv[0] ?? ''))
      ? undefined
      : (hiddenWord(command, rules, cwd, facts) ?? protectedWord(command, rules, { cwd, facts })))
  )
}

/** Only patterns for the program itself are of interest, for instance because it only looks and starts nothing else. */
export function forbiddenPattern(
  command: PlainCommand,
  { forbidding, tier }: ToolRules,
): Refusal | undefined {
  const [program = '', ...args] = command.argv
  const found = forbidding.forbidding.get(baseName(program))?.find(({ pattern }) => mayMatch(pattern, args))
  return (
    found && {
      reason: `\`${showCommand(command)}\` may not run at tier ${tier} (rule: ${found.pattern.source}). Do without it, or ask a person.`,
      rule: found.pattern.source,
    }
  )
}

function forbiddenCall(
  command: PlainCommand,
  { forbidding }: ToolRules,
  cwd: string,
  facts: CallFacts,
): Refusal | undefined {
  const { refused, actions } = judgeCommand(command, forbidding, cwd, facts)
  const [action] = actions
  if (refused || !action || !command.repeated) return refused
  return {
    reason: `How often \`${action.command}\` would run is not known, for it is repeated, and it has a cooldown ("${action.rule}"). Run it once, look whether it helped, and only then run it again.`,
    rule: `cooldowns.${action.rule}`,
  }
}

/** A text that cannot be read as a whole is not run if it speaks of something forbidden or counted. */
export function forbiddenMention(
  text: string,
  { commands, unclear }: ShellReading,
  { mentions }: ToolRules,
): Refusal | undefined {
  const why =
    unclear[0]?.why ??
    commands.find(({ opaque }) => opaque !== null)?.opaque ??
    (commands.some(({ openEnded }) => openEnded) ? 'adds arguments when it runs' : undefined)
  const mention = why === undefined ? undefined : findMention(text, mentions)
  if (!mention) return undefined
  const what = mention.rule.startsWith('cooldowns.') ? 'has a cooldown' : 'is forbidden'
  return {
    reason: `What this starts cannot be checked, because it ${why}, and it speaks of \`${mention.source}\`, which ${what}. Write the commands out, one by one.`,
    rule: mention.rule,
  }
}

/** At a tier that restricts: a command that does not only look and that no rule allows. */
export function notAllowed(
  command: PlainCommand,
  rules: ToolRules,
  cwd: string,
  facts: CallFacts,
): Refusal | undefined {
  const { argv, assignments, elevated, openEnded, globs } = command
  const place = { cwd, facts }
  const steering = assignments.find(isSteering)
  if (steering !== undefined)
    return refuse(command, rules, `${nameOf(steering)} may change what is started`, 'environment')
  const written =
    redirectedTo(command).length > 0 ? changeElsewhere({ ...command, argv: [] }, rules, place) : undefined
  if (written) return written
  if (onlyLooks(command)) return undefined
  const [program = ''] = argv
  const name = baseName(program)
  if (!isUsualProgram(program)) return refuse(command, rules, 'a program is started only by its name', 'path')
  if (openEnded) return refuse(command, rules, 'it is given arguments that are not written out', 'opaque')
  if (elevated && !SERVICE_PROGRAMS.has(name))
    return refuse(command, rules, 'it is started as another user', 'sudo')
  const loose = globs
    .map((at) => argv[at] ?? '')
    .find((word) => /^[*?[]/.test(word) || SERVICE_PROGRAMS.has(name))
  if (loose !== undefined)
    return refuse(command, rules, `${shorten(loose)} may stand for an option; write ./ before it`, 'pattern')
  if (name === 'tee') return changeElsewhere(command, rules, place)
  const { refused } = judgeCommand(command, rules.calls, cwd, facts)
  if (refused) return refused
  const changed = changedFiles(command)
  if (!changed) return undefined
  if (changed.unsure) return refuse(command, rules, 'it has an option that is not known', 'options')
  if (name === 'sed' && !isPlainEdit(argv.slice(1)))
    return refuse(command, rules, 'what its script does cannot be checked', 'sed')
  return changeElsewhere(command, rules, place)
}

/** They ask a service that has its own rights, so being another user makes no difference. */
const SERVICE_PROGRAMS = new Set([
  'docker',
  'docker-compose',
  'podman',
  'podman-compose',
  'systemctl',
  'service',
])

const nameOf = (assignment: string) => assignment.split('=', 1)[0] ?? assignment

function refuse(command: PlainCommand, { tier }: ToolRules, why: string, rule: string): Refusal {
  return {
    reason: `\`${showCommand(command)}\` is not allowed at tier ${tier}: ${why}. Recommend escalation if it is needed.`,
    rule,
  }
}

/** What other processes were given, have open or hold in memory. */
const OF_PROCESSES = /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|fd|root|cwd)(\/|$)/

/** A file that a sandbox would hide. */
export function hiddenWord(
  command: PlainCommand,
  rules: ToolRules,
  cwd: string,
  facts: CallFacts,
): Refusal | undefined {
  if (rules.tier === undefined) return undefined
  const words = [...command.argv.slice(1), ...command.redirects.map(({ path }) => path)]
  const hidden = words.find((word) => isHidden(word, command, cwd, facts))
  return hidden === undefined
    ? undefined
    : refuse(command, rules, `${shorten(hidden)} is hidden from agents`, 'hidden')
}

function isHidden(word: string, { cwds }: PlainCommand, cwd: string, facts: CallFacts): boolean {
  // An option may have the path behind `=`, a field of curl behind `@`.
  const paths = [word, ...word.split(/[=@:,]/).slice(1)]
  return paths.some(
    (path) =>
      /[/~]/.test(path) &&
      placesOf(path, cwds, cwd, facts).some((place) => facts.isHidden(place) || OF_PROCESSES.test(place)),
  )
}
