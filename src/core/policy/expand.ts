/**
 * From a word of the shell to the words that a program would be given. A word may stand for several (braces,
 * unquoted variables), and for one of several (a variable that may hold this or that): the result is a list of
 * alternatives, each a list of fields.
 */
import { type ParsedScript, parse, type SyntaxNode, type Word, type WordPart } from 'unbash'
import { expandBraces } from './braces.ts'
import { type Field, UNKNOWN } from './command.ts'
import type { Scope, Values } from './scope.ts'

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

export type Alternatives = Field[][]

const MOST_ALTERNATIVES = 32
const ANYTHING: Field = { text: UNKNOWN, unknown: 'many' }

export function expandWords(words: readonly Word[], expander: Expander): Alternatives {
  let all: Alternatives = [[]]
  for (const word of words) {
    if (word.parts === undefined && !isTilde(word.text)) {
      for (const fields of all) fields.push({ text: word.value })
      continue
    }
    const choices = expandWord(word, expander)
    if (choices.length === 1) for (const fields of all) fields.push(...(choices[0] ?? []))
    else if (all.length * choices.length > MOST_ALTERNATIVES) for (const fields of all) fields.push(ANYTHING)
    else all = all.flatMap((fields) => choices.map((choice) => [...fields, ...choice]))
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
  const { parts } = word
  if (parts === undefined) return [[{ text: withHome(word.text, word.value, expander.home) }]]
  if (parts.some(({ type }) => type === 'BraceExpansion')) return expandBraced(word, expander)
  const builders: Builder[] = [new Builder()]
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
  const command = parse(`: ${source}`).commands[0]?.command
  return command?.type === 'Command' ? command.args.filter((inner) => inner.type === 'Word') : []
}

/** Heredoc bodies and quoted text: one text, of which parts may be unknown. */
export function expandText(parts: readonly WordPart[], expander: Expander): Field[] {
  return addParts(parts, [new Builder()], true, expander).map((builder) => {
    const fields = builder.finish()
    return fields[0] ?? { text: '' }
  })
}

class Builder {
  private done: Field[] = []
  private current: Field | undefined

  add(text: string, flags: Omit<Field, 'text'> = {}): void {
    const { text: before = '', ...known } = this.current ?? {}
    const tame = before === '' && flags.tame ? { tame: true as const } : {}
    const { tame: _, local: starts, ...others } = flags
    const { tame: __, local: started, ...kept } = known as Omit<Field, 'text'>
    const isLocal = before === '' ? starts || flags.tame : started
    const unknown = kept.unknown === 'many' ? 'many' : (others.unknown ?? kept.unknown)
    this.current = { ...kept, ...others, ...tame, text: before + text, ...(unknown && { unknown }) }
    if (isLocal) this.current.local = true
  }

  /** A blank in an unquoted value ends a word. */
  break(): void {
    if (this.current) this.done.push(this.current)
    this.current = undefined
  }

  copy(): Builder {
    const copy = new Builder()
    copy.done = [...this.done]
    copy.current = this.current
    return copy
  }

  finish(): Field[] {
    this.break()
    return this.done
  }
}

function addParts(
  parts: readonly WordPart[],
  given: Builder[],
  quoted: boolean,
  expander: Expander,
): Builder[] {
  let builders = given
  for (const [index, part] of parts.entries()) {
    switch (part.type) {
      case 'Literal': {
        const text = index === 0 && !quoted ? withHome(part.text, part.value, expander.home) : part.value
        for (const builder of builders) builder.add(text)
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
        builders = addVariable(part.text.slice(1), builders, quoted, expander)
        break
      case 'ParameterExpansion':
        builders = addParameter(part, builders, quoted, expander)
        break
      case 'CommandExpansion': {
        const { text, ...flags } = expander.substitute(part.script)
        builders = addValue(
          { texts: flags.unknown ? [] : [text], unknown: !!flags.unknown },
          builders,
          quoted,
          {
            ...(flags.tame && { tame: true }),
          },
        )
        break
      }
      case 'ArithmeticExpansion':
        expander.inspect(part)
        for (const builder of builders) builder.add(UNKNOWN, { unknown: 'one', tame: true })
        break
      case 'ProcessSubstitution':
        expander.processSubstitution(part.script, part.operator === '>')
        for (const builder of builders) builder.add(`/dev/fd/${UNKNOWN}`, { unknown: 'one', tame: true })
        break
      default:
        for (const builder of builders) builder.add(UNKNOWN, { unknown: 'many' })
    }
  }
  return builders
}

function addParameter(
  part: Extract<WordPart, { type: 'ParameterExpansion' }>,
  builders: Builder[],
  quoted: boolean,
  expander: Expander,
): Builder[] {
  if (part.prefix === '#') {
    if (part.index) expander.inspect(part)
    for (const builder of builders) builder.add(UNKNOWN, { unknown: 'one', tame: true })
    return builders
  }
  const { operation } = part
  if (part.prefix === undefined && operation === undefined && part.index === undefined)
    return addVariable(part.parameter, builders, quoted, expander)
  if (operation?.type === 'Default' && part.prefix === undefined && part.index === undefined) {
    // It is an assignment, too.
    if (operation.operator.includes('=')) expander.inspect(part)
    const operands = expandOne(operation.operand, expander)
    const held = valuesOf(part.parameter, expander)
    const replaced = operation.operator.includes('+')
    const known = replaced ? [] : (held?.texts ?? [])
    return addValue(
      {
        texts: [...known, ...operands.map(({ text }) => text)],
        unknown:
          (!replaced && (held?.unknown === true || held?.globs !== undefined)) ||
          operands.some(({ unknown }) => unknown),
      },
      builders,
      quoted,
    )
  }
  // Substitutions inside what is left out here start something all the same.
  expander.inspect(part)
  return addValue({ texts: [], unknown: true }, builders, quoted)
}

function valuesOf(name: string, { scope, home }: Expander): Values | undefined {
  const held = scope.variables.get(name)
  if (held) return held
  if (name === 'HOME') return { texts: [home], unknown: false }
  if (name === 'PWD') {
    const texts = scope.cwds.filter((cwd) => cwd !== undefined)
    return { texts, unknown: texts.length < scope.cwds.length }
  }
  if (name === 'TMPDIR') return { texts: [], unknown: true, local: true }
  // Blank, tab and newline, as long as nobody changes it.
  if (name === 'IFS') return { texts: [' \t\n'], unknown: false }
  return undefined
}

function addVariable(name: string, builders: Builder[], quoted: boolean, expander: Expander): Builder[] {
  const { positional } = expander.scope
  if (name === '@' || name === '*') {
    for (const builder of builders) {
      if (!positional) builder.add(UNKNOWN, { unknown: 'many' })
      else addFields(builder, positional, quoted && name === '@')
    }
    return builders
  }
  if (/^[1-9]\d*$/.test(name)) {
    const field = positional ? positional[Number(name) - 1] : ANYTHING
    for (const builder of builders) {
      if (field)
        builder.add(field.text, { ...field, ...(field.unknown && { unknown: quoted ? 'one' : 'many' }) })
    }
    return builders
  }
  if (/^[?#$!-]$/.test(name)) {
    for (const builder of builders) builder.add(UNKNOWN, { unknown: 'one', tame: true })
    return builders
  }
  return addValue(valuesOf(name, expander) ?? { texts: [], unknown: true }, builders, quoted)
}

function addFields(builder: Builder, fields: readonly Field[], apart: boolean): void {
  for (const [index, field] of fields.entries()) {
    if (index > 0) {
      if (apart) builder.break()
      else builder.add(' ')
    }
    builder.add(field.text, field)
  }
}

function addValue(
  { texts, unknown, globs = [], local }: Values,
  builders: Builder[],
  quoted: boolean,
  flags: Pick<Field, 'tame'> = {},
): Builder[] {
  const addUnknown = (builder: Builder) =>
    builder.add(UNKNOWN, {
      unknown: quoted ? 'one' : 'many',
      ...flags,
      ...(local && !tooMany && { local: true }),
    })
  const tooMany = builders.length * (texts.length + globs.length) >= MOST_ALTERNATIVES
  const choices = (tooMany ? [] : texts).map((text) => (builder: Builder) => addText(builder, text, quoted))
  if (!tooMany) for (const text of globs) choices.push((builder) => builder.add(text, { glob: true }))
  if (unknown || tooMany) choices.push(addUnknown)
  const [first, ...others] = choices
  if (!first) return builders
  const added = others.flatMap((choice) =>
    builders.map((builder) => {
      const copy = builder.copy()
      choice(copy)
      return copy
    }),
  )
  for (const builder of builders) first(builder)
  return [...builders, ...added]
}

function addText(builder: Builder, text: string, quoted: boolean): void {
  if (quoted) {
    builder.add(text)
    return
  }
  for (const [index, piece] of text.split(/[ \t\n]+/).entries()) {
    if (index > 0) builder.break()
    if (piece) builder.add(piece, /[*?[]/.test(piece) ? { glob: true } : {})
  }
}

const isTilde = (text: string) => text.charCodeAt(0) === 0x7e

function withHome(raw: string, value: string, home: string): string {
  if (!isTilde(raw)) return value
  if (value === '~' || value.startsWith('~/')) return home + value.slice(1)
  // Somebody's home; `~+` and `~-` are directories that were visited.
  return /^~[+-]?[a-z_]*(\/|$)/.test(value) ? value.replace(/^~[^/]*/, `/home/${UNKNOWN}`) : value
}
