/**
 * From a word of the shell to the words that a program would be given. A word may stand for several (braces,
 * unquoted variables), and for one of several (a variable that may hold this or that): the result is a list of
 * alternatives, each a list of fields.
 */
import { type ParsedScript, parse, type SyntaxNode, type Word, type WordPart } from 'unbash'
import { expandBraces } from './braces.ts'
import { nested, spend } from './budget.ts'
import { type Field, UNKNOWN } from './command.ts'
import { addValue, FieldBuilder, MOST_ALTERNATIVES } from './field-builder.ts'
import { addParameter, addVariable, homeOf, type Reader, separatorsOf } from './parameter.ts'
import type { Scope } from './scope.ts'
import { ANYTHING } from './values.ts'

export interface Expander {
  scope: Scope
  home: string
  /** Looks at what a substitution would run; its output, if that is certain. */
  substitute: (script: ParsedScript | undefined) => Field
  /** Looks at what substitutions inside would run, where their output does not matter. */
  inspect: (node: SyntaxNode) => void
  /** Looks at what a process substitution would run. */
  processSubstitution: (script: ParsedScript | undefined, writes: boolean) => void
}

/** To see what a word is, without noting what it starts. */
export function quietly({ scope, home }: Expander): Expander {
  return {
    scope,
    home,
    substitute: () => ({ text: UNKNOWN, unknown: 'one' }),
    inspect: () => {},
    processSubstitution: () => {},
  }
}

export type Alternatives = Field[][]

export function expandWords(words: readonly Word[], expander: Expander): Alternatives {
  if (words.every(isLiteral)) return [words.map(({ value }) => ({ text: value }))]
  let all: Alternatives = [[]]
  for (const word of words) {
    if (isLiteral(word)) {
      for (const fields of all) fields.push({ text: word.value })
      continue
    }
    const choices = expandWord(word, expander)
    for (const choice of choices) spend(all.length * (choice.length + 1))
    if (choices.length === 1) for (const fields of all) fields.push(...(choices[0] ?? []))
    else if (all.length * choices.length > MOST_ALTERNATIVES) for (const fields of all) fields.push(ANYTHING)
    else {
      for (const fields of all) spend(choices.length * fields.length)
      all = all.flatMap((fields) => choices.map((choice) => [...fields, ...choice]))
    }
  }
  return all
}

/** As in an assignment or a redirection: one field, whatever it holds. */
export function expandOne(word: Word, expander: Expander): Field[] {
  return expandWord(word, expander).map((fields) =>
    fields.length === 1 && fields[0]
      ? fields[0]
      : {
          text: fields.map(({ text }) => text).join(' '),
          ...(fields.some(({ unknown }) => unknown) && { unknown: 'many' as const }),
        },
  )
}

function expandWord(word: Word, expander: Expander): Alternatives {
  return nested(() => expandParts(word, expander))
}

function expandParts(word: Word, expander: Expander): Alternatives {
  const { parts } = word
  if (parts === undefined) return [[atHome(word.text, word.value, expander)]]
  if (parts.some(({ type }) => type === 'BraceExpansion')) return expandBraced(word, expander)
  const builders: FieldBuilder[] = [new FieldBuilder()]
  return addParts(parts, builders, false, expander).map((builder) => builder.finish())
}

function expandBraced(word: Word, expander: Expander): Alternatives {
  const raws = expandBraces(word.text)
  if (!raws || (raws.length === 1 && raws[0] === word.text)) {
    // What is substituted in it runs all the same: `{1..$(ls)}`.
    expandWords(wordsOf(word.text.replaceAll(/(?<![$\\])\{/g, '\\{')), expander)
    return [[ANYTHING]]
  }
  return expandWords(raws.flatMap(wordsOf), expander)
}

function wordsOf(source: string): Word[] {
  spend(source.length)
  const command = parse(`: ${source}`).commands[0]?.command
  return command?.type === 'Command' ? command.args.filter((inner) => inner.type === 'Word') : []
}

/** Heredoc bodies and quoted text: one text, of which parts may be unknown. */
export function expandText(parts: readonly WordPart[], expander: Expander): Field[] {
  return addParts(parts, [new FieldBuilder()], true, expander).map((builder) => {
    const fields = builder.finish()
    return fields[0] ?? { text: '' }
  })
}

function addParts(
  parts: readonly WordPart[],
  given: FieldBuilder[],
  quoted: boolean,
  expander: Expander,
): FieldBuilder[] {
  let builders = given
  for (const [index, part] of parts.entries()) {
    switch (part.type) {
      case 'Literal': {
        const { text, ...flags } =
          index === 0 && !quoted ? atHome(part.text, part.value, expander) : { text: part.value }
        for (const builder of builders) builder.add(text, flags)
        break
      }
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        for (const builder of builders) builder.add(part.value)
        break
      case 'DoubleQuoted':
      case 'LocaleString':
        // Even an empty one makes a word, unless it is only "$@".
        if (part.parts.length === 0) for (const builder of builders) builder.add('')
        builders = addParts(part.parts, builders, true, expander)
        break
      case 'Glob':
        for (const builder of builders) {
          builder.add(part.kind === 'star' ? '*' : '?', quoted ? {} : { glob: true })
        }
        break
      case 'ExtendedGlob':
        for (const builder of builders) builder.add('*', { glob: true })
        break
      case 'SimpleExpansion':
        builders = addVariable(part.text.slice(1), builders, quoted, readerOf(expander))
        break
      case 'ParameterExpansion':
        builders = addParameter(part, builders, quoted, readerOf(expander))
        break
      case 'CommandExpansion': {
        const { text, ...flags } = expander.substitute(part.script)
        builders = addValue(
          { texts: flags.unknown ? [] : [text], unknown: !!flags.unknown },
          builders,
          { quoted, separators: separatorsOf(expander.scope.state) },
          flags.tame && { tame: flags.tame },
        )
        break
      }
      case 'ArithmeticExpansion':
        expander.inspect(part)
        for (const builder of builders) builder.add(UNKNOWN, { unknown: 'one', tame: 'number' })
        break
      case 'ProcessSubstitution':
        expander.processSubstitution(part.script, part.operator === '>')
        for (const builder of builders) builder.add(`/dev/fd/${UNKNOWN}`, { unknown: 'one', tame: 'name' })
        break
      default:
        for (const builder of builders) builder.add(UNKNOWN, { unknown: 'many' })
    }
  }
  return builders
}

const isLiteral = (word: Word) => word.parts === undefined && !isTilde(word.text)

const isTilde = (text: string) => text.charCodeAt(0) === 0x7e

/** A word that begins with `~` begins with a directory. */
function atHome(raw: string, value: string, { scope, home }: Expander): Field {
  if (!isTilde(raw)) return { text: value }
  const slash = value.indexOf('/')
  const whose = slash === -1 ? value : value.slice(0, slash)
  const rest = slash === -1 ? '' : value.slice(slash)
  if (whose === '~') {
    const own = homeOf(scope.state, home)
    return own === undefined ? { text: UNKNOWN + rest, unknown: 'one' } : { text: own + rest }
  }
  // Directories that were visited.
  if (/^~[+-]?\d*$/.test(whose)) return { text: UNKNOWN + rest, unknown: 'one' }
  return /^~[\w.-]+$/.test(whose) ? { text: `/home/${UNKNOWN}${rest}`, unknown: 'one' } : { text: value }
}

const readerOf = (expander: Expander): Reader => ({
  scope: expander.scope,
  home: expander.home,
  inspect: (node) => expander.inspect(node),
  expandOne: (word) => expandOne(word, expander),
})
