/** Commands as patterns see them. */
import { baseName, type Field, type SimpleCommand, type Surroundings } from './command.ts'
import { onlyLooks } from './observe.ts'
import { joinPath } from './paths.ts'
import { canonical, type Subject } from './pattern.ts'

/** Where programs are that bear their own name. */
export const USUAL_PLACE = /^\/(usr\/(local\/)?)?s?bin\//

/** The command itself, under each name it may have. */
export function subjectsOf(command: SimpleCommand, surroundings: Surroundings): Subject[] {
  const [name, ...fields] = command.words
  if (!name) return []
  const dynamic = !!name.unknown || !!name.glob
  const own = baseName(name.text)
  const subjects = [subjectOf(own, dynamic, fields)]
  if (!dynamic && name.text.includes('/')) {
    // A link, or a copy, may bear any name.
    for (const cwd of command.cwds) {
      const path = joinPath(cwd, name.text)
      const real = path === undefined ? own : baseName(surroundings.realpath(path))
      if (real !== own) subjects.push(subjectOf(real, false, fields))
    }
    if (!USUAL_PLACE.test(name.text)) subjects.push(subjectOf(own, true, fields))
  }
  return subjects
}

/** What a program that is not known may start in turn: every word that names one of interest, with what follows. */
export function innerSubjectsOf(
  command: SimpleCommand,
  isOfInterest: (program: string) => boolean,
): Subject[] {
  const { words } = command
  const own = baseName(words[0]?.text ?? '')
  const subjects: Subject[] = []
  for (let index = 1; index < words.length - 1; index++) {
    const inner = baseName(words[index]?.text ?? '')
    if (inner === own || !isOfInterest(inner)) continue
    if (subjects.length === 0 && onlyLooks(command)) return []
    subjects.push(subjectOf(inner, false, words.slice(index + 1)))
  }
  return subjects
}

export function subjectOf(name: string, anyProgram: boolean, fields: readonly Field[]): Subject {
  const [program] = canonical(name, [])
  const args = program === name ? fields : [{ text: 'compose' }, ...fields]
  return { program, anyProgram, args }
}
