/**
 * Programs that start others are told so in many ways: `--checkpoint-action=exec=…`, `-o ProxyCommand=…`, `+!…`. So a
 * command line that stands inside one word is taken for one, unless that word is known to be prose.
 */
import { baseName, type Field, literal, type SimpleCommand } from './command.ts'
import { subCommand } from './observe.ts'
import { textsOf } from './options.ts'
import { canonicalProgram, type Subject } from './pattern.ts'
import { readSed } from './sed.ts'
import { subjectOf } from './subject.ts'

export const APART = /[\s'"`;|&()<>=!$,\\]+/

/** What the words of a command may start. `isOfInterest` says which programs there are rules about. */
export function spokenSubjects(
  { words }: SimpleCommand,
  looks: boolean,
  isOfInterest: (program: string) => boolean,
): Subject[] {
  const [name, ...args] = words
  if (!name || !args.some(({ text }) => /\S\s+\S/.test(text))) return []
  const program = baseName(name.text)
  return args.flatMap((arg, index) => {
    if (!/\S\s+\S/.test(arg.text) || (looks ? !STARTING.test(arg.text) : isProse(program, args, index)))
      return []
    const tokens = arg.text.split(APART).filter(Boolean)
    return tokens.flatMap((token, at) => {
      const inner = baseName(token)
      return at + 1 < tokens.length && isOfInterest(canonicalProgram(inner))
        ? subjectOf(inner, false, tokens.slice(at + 1).map(literal))
        : []
    })
  })
}

/** Settings of ssh, which else merely wraps. */
const STARTING = /^(-o)?\s*\w+Command[\s=]/i

/** They start nothing, whatever they are told. */
const TELLING = new Set(
  'apprise logger notify-send wall mail mailx sendmail tea curl wget touch mkdir rmdir rm cp mv ln truncate tee'.split(
    ' ',
  ),
)

/** Whether a word is a message, to be read by a person. */
export function isProse(program: string, args: readonly Field[], index: number): boolean {
  if (TELLING.has(program)) return true
  if (program === 'sed') return readSed(args).understood
  const texts = textsOf(args)
  const [sub = ''] = subCommand(program, texts)
  const after = texts.indexOf(sub) < index
  if (program === 'git')
    return after && /^(commit|tag|notes|merge|stash|cherry-pick|revert|branch)$/.test(sub)
  return program === 'gh' && after && /^(pr|issue|release|api|gist|label|discussion)$/.test(sub)
}
