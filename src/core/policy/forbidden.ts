/** Whether a command may be something that must not run. In doubt it is. */

import { spend } from './budget.ts'
import { changedFiles } from './changed-files.ts'
import { type Field, type SimpleCommand, type Surroundings, showCommand, UNKNOWN } from './command.ts'
import { gitSetting } from './git-config.ts'
import { isOption } from './options.ts'
import { firstTouched, type PathIndex, type PathPattern } from './path-patterns.ts'
import { isDetour, namesRepository, pathsOf } from './paths.ts'
import { type Forms, mayMatch, type Subject, speaksOf } from './pattern.ts'
import type { Forbidding, Policy } from './policy.ts'
import { rootDeletion } from './roots.ts'
import { readSed } from './sed.ts'
import { spokenSubjects } from './spoken.ts'
import { innerSubjectsOf, subjectsOf } from './subject.ts'

export interface Refusal {
  reason: string
  rule: string
}

/** What a command stands in. */
interface Whole {
  source: string
  commands: readonly SimpleCommand[]
  /** Whether a file is opened to be read. */
  opens: boolean
}

/** `looks`: the command only looks, so that it writes nothing by itself. */
export function forbidden(
  command: SimpleCommand,
  policy: Policy,
  looks: boolean,
  surroundings: Surroundings,
  whole: Whole,
): Refusal | undefined {
  const deletion = rootDeletion(command, surroundings)
  if (deletion)
    return { reason: `\`${showCommand(command)}\` may never run: ${deletion}.`, rule: 'root-deletion' }
  const found = forbiddingOf(command, policy, looks, surroundings)
  if (found) return { reason: refusedBy(found, showCommand(command), policy), rule: found.pattern.source }
  const lasting =
    policy.tier === undefined && policy.forbidding.length === 0 ? undefined : steering(command, policy)
  if (lasting) return lasting
  return protectedWrite(command, policy, looks, surroundings, whole)
}

/** The pattern that forbids the command; of several, one that forbids it at every tier. */
function forbiddingOf(
  command: SimpleCommand,
  { forbidding, forbiddingBy }: Policy,
  looks: boolean,
  surroundings: Surroundings,
): Forbidding | undefined {
  let found: Forbidding | undefined
  const forms: Forms = (field) => (field.unknown ? [] : pathsOf(field, command.cwds, surroundings))
  const look = (subject: Subject) => {
    const patterns = subject.anyProgram ? forbidding : forbiddingBy.get(subject.program)
    const match = patterns?.find(({ pattern }) => mayMatch(pattern, subject, forms))
    if (match && (!found || match.rule === 'never')) found = match
  }
  for (const subject of subjectsOf(command, surroundings)) look(subject)
  if (!looks) for (const subject of innerSubjectsOf(command, forbiddingBy)) look(subject)
  for (const subject of spokenSubjects(command, looks, forbiddingBy)) look(subject)
  return found
}

/** Settings of git and steps of sed that start something nobody would see. */
function steering(command: SimpleCommand, { restricts }: Policy): Refusal | undefined {
  const { program, args } = command
  const key = program === 'git' ? gitSetting(args, restricts) : undefined
  if (key !== undefined) {
    return {
      reason: `\`${showCommand(command)}\` may never run: the setting ${key.replaceAll(UNKNOWN, '…')} of git may start a program or change what is pushed. Do without it, or ask a person.`,
      rule: 'git-config',
    }
  }
  if (program === 'sed' && readSed(args).starts) {
    return {
      reason: `\`${showCommand(command)}\` may never run: \`e\` in a script of sed starts what it finds. Run that directly.`,
      rule: 'sed',
    }
  }
  return undefined
}

function refusedBy({ pattern, rule }: Forbidding, shown: string, { tier }: Policy): string {
  const doubt = shown.includes('…')
    ? ' A part of it is only known when it runs; write it out if it is something else.'
    : ''
  return rule === 'never'
    ? `\`${shown}\` may never run, at no tier (rule: ${pattern.source}).${doubt} Do without it, or ask a person.`
    : `\`${shown}\` may not run at tier ${tier} (rule: ${pattern.source}).${doubt} Recommend escalation if it is needed.`
}

const DESCRIPTOR = /^\/(dev\/(stdin|stdout|stderr|fd\/[^/]+)|proc\/[^/]+\/(task\/[^/]+\/)?fd\/[^/]+)$/

/** What was opened to be read can be opened once more to be written, by the name of its descriptor. */
function opensAgain(
  { args, redirects }: SimpleCommand,
  patterns: PathIndex,
  looks: boolean,
  surroundings: Surroundings,
  { commands, opens }: Whole,
): Refusal | undefined {
  if (!opens) return undefined
  const targets = [
    ...(looks ? [] : args),
    ...redirects.flatMap(({ target, writes }) => (writes ? target : [])),
  ]
  const named = targets.find(({ text }) => DESCRIPTOR.test(text))
  if (!named) return undefined
  for (const command of commands) {
    for (const { target, writes } of command.redirects) {
      if (writes) continue
      const paths = pathsOf(target, command.cwds, surroundings)
      const found = firstTouched(patterns, paths, { deep: true, exists: surroundings.exists })?.pattern
      if (found)
        return {
          reason: `This opens something that is protected (${found.source}) and writes to ${named.text.replaceAll(UNKNOWN, '…')}, which may be the same. Write to another file.`,
          rule: found.source,
        }
    }
  }
  return undefined
}

function protectedWrite(
  command: SimpleCommand,
  { protectedPaths: patterns, restricts }: Policy,
  looks: boolean,
  surroundings: Surroundings,
  whole: Whole,
): Refusal | undefined {
  if (patterns.all.length === 0 || (looks && command.redirects.length === 0)) return undefined
  const isDirectory = (field: Field) =>
    /(^|\/)\.{0,2}$/.test(field.text) ||
    pathsOf(field, command.cwds, surroundings).some((path) => surroundings.exists(`${path}/.`))
  const again = opensAgain(command, patterns, looks, surroundings, whole)
  if (again) return again
  for (const write of changedFiles(command, looks, isDirectory)) {
    const { target, tree = false } = write
    if (target.text === '') continue
    const deep = write.deep || namesRepository(target.text)
    if (write.sure && leadsAnywhere(target, command)) {
      const named = restricts ? patterns.all[0] : namedIn(whole, patterns, surroundings)
      if (named) {
        return {
          reason: `\`${showCommand(command)}\` writes to where only the running shell knows, and that may be protected (${named.source}). Write the path out.`,
          rule: named.source,
        }
      }
    }
    const paths = pathsOf(target, command.cwds, surroundings)
    if (isDetourFrom(command.cwds, target.text)) {
      return {
        reason: `\`${showCommand(command)}\` writes to ${target.text.replaceAll(UNKNOWN, '…')}, which may lead anywhere. Write the path out.`,
        rule: 'detour',
      }
    }
    const places = tree ? paths.flatMap((path) => treesOf(path, surroundings)) : paths
    const touch = { deep, tree, sure: write.sure === true, exists: surroundings.exists }
    const touched = firstTouched(patterns, places, touch)
    if (touched) {
      const { path, pattern } = touched
      const shown = path.replaceAll(UNKNOWN, '…')
      const what = tree
        ? `may change files of the work tree ${shown}, in which something`
        : `would change ${shown}, which`
      return {
        reason: `\`${showCommand(command)}\` ${what} is protected (${pattern.source}). Leave it as it is, or ask a person.`,
        rule: pattern.source,
      }
    }
  }
  return undefined
}

function isDetourFrom(cwds: SimpleCommand['cwds'], path: string): boolean {
  for (const cwd of cwds) if (isDetour(cwd, path)) return true
  return false
}

/** Whether a path begins with something unknown, so that it may be any. */
function leadsAnywhere({ text, unknown, local }: Field, { cwds }: SimpleCommand): boolean {
  if (unknown && text.startsWith(UNKNOWN)) return !local
  return !text.startsWith('/') && cwds.includes(undefined)
}

/** Something protected that a text speaks of, or that its commands name a directory of. */
function namedIn(
  { source, commands }: Whole,
  patterns: PathIndex,
  surroundings: Surroundings,
): PathPattern | undefined {
  const spoken = patterns.all.find(
    ({ start }) => start.length > 2 && start.startsWith('/') && source.includes(start),
  )
  if (spoken) return spoken
  for (const { args, redirects, cwds } of commands) {
    for (const field of [...args, ...redirects.map(({ target }) => target)]) {
      if (isOption(field.text) || field.text.startsWith(UNKNOWN)) continue
      const paths = pathsOf(field, cwds, surroundings)
      const found = firstTouched(patterns, paths, { deep: true, exists: surroundings.exists })
      if (found) return found.pattern
    }
  }
  return undefined
}

/** The directory and those it is in, up to where the repository begins. */
function treesOf(path: string, { exists }: Surroundings): string[] {
  const trees: string[] = []
  for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    trees.push(at)
    if (exists(`${at}/.git`)) return trees
  }
  return [path]
}

/**
 * A program text cannot be followed, but what speaks of something forbidden is not run: the program itself, or what
 * stands around it, which may have written it.
 */
export function mentioned(text: string, source: string, why: string, policy: Policy): Refusal | undefined {
  const { forbiddenNames } = policy
  spend(text.length + source.length)
  if (forbiddenNames.test(text) || forbiddenNames.test(source)) {
    for (const { pattern, spoken } of policy.forbidding) {
      if (speaksOf(text, spoken) || speaksOf(source, spoken)) {
        return {
          reason: `This ${why} and speaks of \`${pattern.source}\`, which is forbidden. Run what is allowed directly.`,
          rule: pattern.source,
        }
      }
    }
  }
  // Start files are there to be read.
  if (/^(source|\.) /.test(text)) return undefined
  for (const { source: pattern, start } of policy.protectedPaths.all) {
    if (start.length > 2 && text.includes(start)) {
      return {
        reason: `This ${why} and speaks of ${start}, which is protected (${pattern}). Leave it as it is.`,
        rule: pattern,
      }
    }
  }
  return undefined
}
