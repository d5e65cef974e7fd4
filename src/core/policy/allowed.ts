/** Whether a command is one of those that a tier may run. In doubt it is not. */

import { redirectedTo } from './changed-files.ts'
import { type Field, type SimpleCommand, type Surroundings, showCommand, UNKNOWN } from './command.ts'
import type { Refusal } from './forbidden.ts'
import { loadingOption } from './loading.ts'
import { findDeletes } from './looks/text.ts'
import { pathsOf } from './paths.ts'
import { surelyMatches } from './pattern.ts'
import type { Policy } from './policy.ts'
import { readSed } from './sed.ts'
import { startPoints } from './starts/find.ts'
import { subjectOf, USUAL_PLACE } from './subject.ts'

/** `looks`: the command only looks, which everybody may. */
export function notAllowed(
  command: SimpleCommand,
  policy: Pick<Policy, 'tier' | 'mayWrite' | 'allowing'>,
  looks: boolean,
  surroundings: Surroundings,
): Refusal | undefined {
  const { words, program, args } = command
  const { mayWrite } = policy
  const name = words[0]
  if (!name) return undefined
  if (!mayWrite && command.redirects.length > 0) {
    const target = redirectedTo(command).find((field) => !isScratch(field, command, surroundings))
    if (target) return writesTo(target, command, policy)
  }
  if (looks) return undefined
  if (program === 'tee' && (mayWrite || args.every((arg) => isHarmless(arg, command, surroundings))))
    return undefined
  if (program === 'sed' && !readSed(args).understood) {
    return {
      reason: `\`${showCommand(command)}\` is not allowed at tier ${policy.tier}: what its script does cannot be checked. Use plain steps such as s, d, p, a, i and c, written out, without -f.`,
      rule: 'sed',
    }
  }
  const subject = subjectOf(program, name.text.includes('/') && !USUAL_PLACE.test(name.text), args)
  const loading = loadingOption(subject.program, subject.args)
  if (loading !== undefined) {
    return {
      reason: `\`${showCommand(command)}\` is not allowed at tier ${policy.tier}: ${loading} makes it read or start something that is not checked. Leave it out.`,
      rule: 'options',
    }
  }
  const patterns = policy.allowing.get(subject.program) ?? []
  if (patterns.some((pattern) => surelyMatches(pattern, subject))) return undefined
  if (deletesFound(command, policy.allowing)) return undefined
  const hint =
    patterns.length > 0
      ? ` Of ${subject.program} it may: ${patterns.map(({ source }) => source).join(', ')}.`
      : ''
  return {
    reason: `\`${showCommand(command)}\` is not allowed at tier ${policy.tier}: it does not merely look, and no rule allows it.${hint} Recommend escalation if it is needed.`,
    rule: name.text,
  }
}

/** `find … -delete` is what `rm` would do to what it finds. */
function deletesFound({ program, args }: SimpleCommand, allowing: Policy['allowing']): boolean {
  const patterns = program === 'find' && findDeletes(args) ? allowing.get('rm') : undefined
  const removal = { program: 'rm', anyProgram: false, args: startPoints(args) }
  return patterns?.some((pattern) => surelyMatches(pattern, removal)) === true
}

const SCRATCH = /^\/(tmp|var\/tmp|dev\/shm)\/./

function isScratch(field: Field, { cwds }: SimpleCommand, surroundings: Surroundings): boolean {
  if (field.unknown) return false
  // Where the work is, nothing is scratch.
  const own = `${surroundings.cwd}/`
  const paths = pathsOf(field, cwds, surroundings)
  return paths.every((path) => SCRATCH.test(path) && !/[*?[]/.test(path) && !path.startsWith(own))
}

function isHarmless(arg: Field, command: SimpleCommand, surroundings: Surroundings): boolean {
  return arg.text.startsWith('-') || arg.text === '/dev/null' || isScratch(arg, command, surroundings)
}

function writesTo(target: Field, command: SimpleCommand, { tier }: Pick<Policy, 'tier'>): Refusal {
  return {
    reason: `\`${showCommand(command)}\` writes to ${target.text.replaceAll(UNKNOWN, '…')}, and tier ${tier} may not write files. Leave out the redirection, or write below /tmp.`,
    rule: 'write',
  }
}
