/** Puts words together from their parts. */
import { spend } from './budget.ts'
import { type Field, UNKNOWN } from './command.ts'
import type { Lists, Values } from './values.ts'

export const MOST_ALTERNATIVES = 32

export class FieldBuilder {
  private done: Field[] = []
  private current: Field | undefined

  add(text: string, flags?: Omit<Field, 'text'>): void {
    const { current } = this
    spend(text.length + 1)
    if (!current) {
      this.current = flags ? begun(text, flags) : { text }
      return
    }
    const isEmpty = current.text === ''
    // Copies may share it.
    const grown: Field = { text: current.text + text }
    const unknown = current.unknown === 'many' ? 'many' : (flags?.unknown ?? current.unknown)
    if (unknown) grown.unknown = unknown
    if (current.glob || flags?.glob) grown.glob = true
    if (isEmpty && flags?.tame) grown.tame = flags.tame
    else if (current.tame === 'place') grown.tame = 'place'
    if (isEmpty && flags?.each) grown.each = true
    if (isEmpty ? isLocal(flags) : current.local) grown.local = true
    this.current = grown
  }

  /** A blank in an unquoted value ends a word. */
  break(): void {
    if (this.current) this.done.push(this.current)
    this.current = undefined
  }

  copy(): FieldBuilder {
    spend(this.done.length + 1)
    const copy = new FieldBuilder()
    copy.done = [...this.done]
    copy.current = this.current
    return copy
  }

  finish(): Field[] {
    this.break()
    return this.done
  }
}

const isLocal = (flags: { local?: boolean | undefined; tame?: Values['tame'] } | undefined) =>
  flags?.local || (flags?.tame !== undefined && flags.tame !== 'place')

function begun(text: string, { unknown, glob, tame, local, each }: Omit<Field, 'text'>): Field {
  const field: Field = { text }
  if (unknown) field.unknown = unknown
  if (glob) field.glob = true
  if (tame) field.tame = tame
  if (isLocal({ local, tame })) field.local = true
  if (each) field.each = true
  return field
}

export interface Manner {
  quoted: boolean
  /** Each that `IFS` may hold: what ends a word in an unquoted value. */
  separators: Separators
}

/** `undefined`: it may be anything. */
export type Separators = readonly (string | undefined)[]

/** The word goes on with what a variable or a substitution may hold. */
export function addValue(
  { texts, unknown, globs = [], local, tame }: Values,
  builders: FieldBuilder[],
  { quoted, separators }: Manner,
  flags: Pick<Field, 'tame'> = {},
): FieldBuilder[] {
  const manners = quoted ? 1 : separators.length
  const tooMany = builders.length * (texts.length * manners + globs.length) >= MOST_ALTERNATIVES
  const choices: ((builder: FieldBuilder) => void)[] = []
  if (!tooMany) {
    for (const text of texts) for (const add of addingText(text, quoted, separators)) choices.push(add)
    for (const text of globs) choices.push((builder) => builder.add(text, { glob: true }))
  }
  if (unknown || tooMany)
    choices.push((builder) =>
      builder.add(UNKNOWN, {
        unknown: quoted ? 'one' : 'many',
        ...(tame && { tame }),
        ...flags,
        ...(local && !tooMany && { local: true }),
      }),
    )
  return addChoices(choices, builders)
}

/** The word goes on with one of these rows of words: apart, or as one word. */
export function addLists(
  lists: Lists,
  builders: FieldBuilder[],
  { quoted, separators }: Manner,
  apart: boolean,
): FieldBuilder[] {
  if (builders.length * lists.length * separators.length >= MOST_ALTERNATIVES)
    return addChoices([(builder) => builder.add(UNKNOWN, { unknown: 'many' })], builders)
  const marks = new Set(apart || !quoted ? [''] : separators.map((separator) => separator?.[0] ?? separator))
  const choices = lists.flatMap((list) =>
    [...marks].map((mark) => (builder: FieldBuilder) => {
      for (const [index, field] of list.entries()) {
        if (index > 0) {
          if (apart || !quoted) builder.break()
          else if (mark === undefined) builder.add(UNKNOWN, { unknown: 'one' })
          else builder.add(mark)
        }
        if (quoted) builder.add(field.text, field)
        else if (field.unknown) builder.add(field.text, { ...field, unknown: 'many' })
        else addSplit(builder, field.text, separators)
      }
    }),
  )
  return addChoices(choices, builders)
}

function addChoices(
  choices: readonly ((builder: FieldBuilder) => void)[],
  builders: FieldBuilder[],
): FieldBuilder[] {
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
  return added.length > 0 ? [...builders, ...added] : builders
}

function addingText(
  text: string,
  quoted: boolean,
  separators: Separators,
): ((builder: FieldBuilder) => void)[] {
  if (quoted) return [(builder) => builder.add(text)]
  return separators.map(
    (separator) => (builder) =>
      separator === undefined
        ? builder.add(UNKNOWN, { unknown: 'many' })
        : addPieces(builder, text, separator),
  )
}

/** An element of a row, unquoted: of more than one way to split it, it may be any. */
function addSplit(builder: FieldBuilder, text: string, separators: Separators): void {
  const [separator] = separators
  if (separators.length > 1 || separator === undefined) builder.add(UNKNOWN, { unknown: 'many' })
  else addPieces(builder, text, separator)
}

function addPieces(builder: FieldBuilder, text: string, separator: string): void {
  for (const [index, piece] of piecesOf(text, separator).entries()) {
    if (index > 0) builder.break()
    if (piece) builder.add(piece, /[*?[]/.test(piece) ? { glob: true } : {})
  }
}

export const BLANKS = ' \t\n'

function piecesOf(text: string, separator: string): string[] {
  spend(text.length)
  if (separator === BLANKS) return text.split(/[ \t\n]+/)
  if (separator === '') return [text]
  const pieces: string[] = ['']
  for (const char of text) {
    if (separator.includes(char)) pieces.push('')
    else pieces[pieces.length - 1] += char
  }
  return pieces
}
