/** Commands as patterns see them. */
import { baseName, type Field, type SimpleCommand, type Surroundings } from './command.ts'
import { subCommand } from './observe.ts'
import { joinPath } from './paths.ts'
import { canonicalProgram, isCompose, type Subject } from './pattern.ts'

/** Where programs are that bear their own name. */
export const USUAL_PLACE = /^\/(usr\/(local\/)?)?s?bin\//

/** The command itself, under each name it may have. */
export function subjectsOf(
  { words: [name], program: own, args: fields, cwds }: SimpleCommand,
  surroundings: Surroundings,
): Subject[] {
  if (!name) return []
  const dynamic = !!name.unknown || !!name.glob
  const subjects = [subjectOf(own, dynamic, fields)]
  // `git-push` is `git push`.
  if (own.startsWith('git-')) subjects.push(subjectOf('git', dynamic, [{ text: own.slice(4) }, ...fields]))
  if (!dynamic && name.text.includes('/')) {
    // A link, or a copy, may bear any name.
    for (const cwd of cwds) {
      const path = joinPath(cwd, name.text)
      const real = path === undefined ? own : baseName(surroundings.realpath(path))
      if (real !== own) subjects.push(subjectOf(real, false, fields))
    }
    if (!USUAL_PLACE.test(name.text)) subjects.push(subjectOf(own, true, fields))
  }
  return subjects
}

/**
 * What a command may start in turn, if it does more than look: every word that names a program of interest, with what
 * follows.
 */
export function innerSubjectsOf({ program, args }: SimpleCommand, ofInterest: OfInterest): Subject[] {
  const subjects: Subject[] = []
  const verbs = HAS_VERBS.has(canonicalProgram(program)) ? subCommand(program, args).slice(0, 2) : []
  for (let index = 0; index < args.length - 1; index++) {
    const inner = baseName(args[index]?.text ?? '')
    if (inner === program || !ofInterest.has(canonicalProgram(inner))) continue
    // `docker rm`, `docker volume rm`
    if (verbs.includes(inner) && args.findIndex(({ text }) => text === inner) === index) continue
    subjects.push(subjectOf(inner, false, args.slice(index + 1)))
  }
  return subjects
}

/** Their first words say what they do, and are no programs. */
const HAS_VERBS = new Set(['docker', 'git', 'kubectl', 'helm'])

/** Programs that there are rules about. */
export type OfInterest = Pick<ReadonlyMap<string, unknown>, 'has'>

export function subjectOf(name: string, anyProgram: boolean, fields: readonly Field[]): Subject {
  const program = canonicalProgram(name)
  const args = isCompose(name) ? [{ text: 'compose' }, ...fields] : fields
  return { program, anyProgram, args }
}
