/**
 * Programs that start others are told so in many ways: `--checkpoint-action=exec=…`, `-o ProxyCommand=…`, `+!…`. So a
 * command line that stands inside one word is taken for one, unless that word is known to be prose.
 */
import { baseName, type Field, literal, type SimpleCommand } from './command.ts'
import { subCommand } from './observe.ts'
import { canonicalProgram, type Subject } from './pattern.ts'
import { readSed } from './sed.ts'
import { type OfInterest, subjectOf } from './subject.ts'

export const APART = /[\s'"`;|&()<>=!$,\\]+/

/** What the words of a command may start. */
export function spokenSubjects(
  { program, args }: SimpleCommand,
  looks: boolean,
  ofInterest: OfInterest,
): Subject[] {
  if (!args.some(({ text }) => mayHaveBlank(text) && /\S\s+\S/.test(text))) return []
  return args.flatMap((arg, index) => {
    if (!/\S\s+\S/.test(arg.text) || (looks ? !STARTING.test(arg.text) : isProse(program, args, index)))
      return []
    const tokens = arg.text.split(APART).filter(Boolean)
    return tokens.flatMap((token, at) => {
      const inner = baseName(token)
      return at + 1 < tokens.length && ofInterest.has(canonicalProgram(inner))
        ? subjectOf(inner, false, tokens.slice(at + 1).map(literal))
        : []
    })
  })
}

/** Most words are short, and have none. */
function mayHaveBlank(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= 0x20 || code >= 0x80) return true
  }
  return false
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
  const [sub = ''] = subCommand(program, args)
  const after = args.findIndex(({ text }) => text === sub) < index
  if (program === 'git')
    return after && /^(commit|tag|notes|merge|stash|cherry-pick|revert|branch)$/.test(sub)
  return program === 'gh' && after && /^(pr|issue|release|api|gist|label|discussion)$/.test(sub)
}
