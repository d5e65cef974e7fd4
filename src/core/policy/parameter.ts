/** What `$x` and `${…}` stand for. */
import type { Word, WordPart } from 'unbash'
import { UNKNOWN } from './command.ts'
import { isSetByShell } from './evaluated.ts'
import {
  addLists,
  addValue,
  BLANKS,
  type FieldBuilder,
  type Manner,
  type Separators,
} from './field-builder.ts'
import { operate } from './parameter-operation.ts'
import type { Scope } from './scope.ts'
import type { ShellState } from './shell-state.ts'
import { ANYTHING, type Lists, listsOf, type Values } from './values.ts'

type Parameter = Extract<WordPart, { type: 'ParameterExpansion' }>

/** What is needed of whoever expands the word. */
export interface Reader {
  scope: Scope
  home: string
  inspect: (node: Parameter) => void
  /** As in an assignment: what one word may be. */
  expandOne: (word: Word) => readonly { text: string; unknown?: unknown; glob?: unknown }[]
}

const NOT_KNOWN: Values = { texts: [], unknown: true }

export function addVariable(
  name: string,
  builders: FieldBuilder[],
  quoted: boolean,
  reader: Reader,
): FieldBuilder[] {
  const { state } = reader.scope
  const manner = mannerOf(quoted, state)
  if (name === '@' || name === '*') return addLists(state.arguments, builders, manner, quoted && name === '@')
  if (/^[1-9]\d*$/.test(name)) return addElement(state.arguments, Number(name) - 1, builders, manner)
  if (/^[?#$!-]$/.test(name)) {
    const tame = name === '-' ? 'name' : 'number'
    for (const builder of builders) builder.add(UNKNOWN, { unknown: 'one', tame })
    return builders
  }
  return addValue(valuesOf(name, reader) ?? NOT_KNOWN, builders, manner)
}

export function addParameter(
  part: Parameter,
  builders: FieldBuilder[],
  quoted: boolean,
  reader: Reader,
): FieldBuilder[] {
  const { parameter, prefix, index, operation } = part
  const manner = mannerOf(quoted, reader.scope.state)
  if (prefix === '#') {
    if (index) reader.inspect(part)
    for (const builder of builders) builder.add(UNKNOWN, { unknown: 'one', tame: 'number' })
    return builders
  }
  if (prefix === undefined && operation === undefined && index === undefined)
    return addVariable(parameter, builders, quoted, reader)
  const all = index?.value ?? (parameter === '@' || parameter === '*' ? parameter : undefined)
  if (operation?.type === 'Default' && prefix === undefined && index === undefined && all === undefined)
    return addValue(defaulted(part, operation, reader), builders, manner)
  // Substitutions inside what is left out here start something all the same.
  reader.inspect(part)
  if (all === '@' || all === '*') {
    const lists = prefix ? undefined : listsIn(parameter, reader)
    // `${@:0}` begins with $0, which nobody knows.
    const whole = operation?.type === 'Slice' && index === undefined && numberOf(operation.offset.value) === 0
    const taken = whole ? undefined : lists
    return addLists(operated(taken, operation, reader), builders, manner, quoted && all === '@')
  }
  if (prefix === '!') return addLists(pointedAt(part, reader), builders, manner, quoted)
  if (index) {
    const at = /^\d+$/.test(index.value) ? Number(index.value) : undefined
    const element = elements(valuesOf(parameter, reader), at)
    return addValue(operation ? changed(element, operation, reader) : element, builders, manner)
  }
  if (/^[1-9]\d*$/.test(parameter) && operation) {
    const lists = reader.scope.state.arguments
    const element = elements({ ...NOT_KNOWN, lists }, Number(parameter) - 1)
    return addValue(changed(element, operation, reader), builders, manner)
  }
  const values = operation ? changed(valuesOf(parameter, reader), operation, reader) : NOT_KNOWN
  return addValue(values, builders, manner)
}

function mannerOf(quoted: boolean, state: ShellState): Manner {
  return { quoted, separators: separatorsOf(state) }
}

const USUAL: Separators = [BLANKS]

/** Blank, tab and newline, as long as nobody changes it. */
export function separatorsOf({ variables }: ShellState): Separators {
  const held = variables.size > 0 ? variables.get('IFS') : undefined
  return held ? [BLANKS, ...held.texts, ...(held.unknown ? [undefined] : [])] : USUAL
}

/** `undefined`: not known. */
export function homeOf({ variables }: ShellState, home: string): string | undefined {
  const held = variables.size > 0 ? variables.get('HOME') : undefined
  if (!held) return home
  return held.texts.length === 1 && !held.unknown ? held.texts[0] : undefined
}

function valuesOf(name: string, { scope, home }: Reader): Values | undefined {
  const held = scope.state.variables.get(name)
  if (held) return isSetByShell(name) ? undefined : held
  if (name === 'HOME') return { texts: [home], unknown: false }
  if (name === 'PWD') {
    const texts = scope.cwds.filter((cwd) => cwd !== undefined)
    return { texts, unknown: texts.length < scope.cwds.length }
  }
  if (name === 'TMPDIR') return { texts: [], unknown: true, local: true }
  if (name === 'IFS') return { texts: [BLANKS], unknown: false }
  return undefined
}

/** `${x:-y}` and its kin: one or the other. It may be an assignment, too. */
function defaulted(
  part: Parameter,
  { operator, operand }: Extract<Parameter['operation'], { type: 'Default' }>,
  reader: Reader,
): Values {
  if (operator.includes('=')) reader.inspect(part)
  const operands = reader.expandOne(operand)
  const held = /^[1-9]\d*$/.test(part.parameter)
    ? elements({ ...NOT_KNOWN, lists: reader.scope.state.arguments }, Number(part.parameter) - 1)
    : (valuesOf(part.parameter, reader) ?? NOT_KNOWN)
  const texts = operands.filter(({ unknown }) => !unknown).map(({ text }) => text)
  const unknown = operands.some((field) => field.unknown)
  if (operator.includes('+')) return { texts: ['', ...texts], unknown }
  if (operator.includes('?')) return held
  const given: Values = {
    texts: [...held.texts, ...texts],
    unknown: unknown || held.unknown || held.globs !== undefined,
  }
  if (operator.includes('=')) reader.scope.state.assign(part.parameter, given, true)
  return given
}

function listsIn(parameter: string, reader: Reader): Lists | undefined {
  if (parameter === '@' || parameter === '*') return reader.scope.state.arguments
  const held = valuesOf(parameter, reader)
  return held && listsOf(held)
}

function addElement(lists: Lists, at: number, builders: FieldBuilder[], manner: Manner): FieldBuilder[] {
  const only = lists.length === 1 ? elementAt(lists[0] ?? [], at) : undefined
  if (!only?.unknown) return addValue(elements({ ...NOT_KNOWN, lists }, at), builders, manner)
  for (const builder of builders) builder.add(only.text, { ...only, unknown: manner.quoted ? 'one' : 'many' })
  return builders
}

/** `undefined`: there is none. */
function elementAt(list: Lists[number], at: number) {
  const unclear = list.findIndex(({ unknown }) => unknown === 'many')
  return unclear !== -1 && unclear <= at ? ANYTHING : list[at]
}

/** Of an array; without a place, any of them. */
function elements(values: Values | undefined, at: number | undefined): Values {
  if (!values) return NOT_KNOWN
  if (!values.lists && at !== undefined && at > 0) return { texts: [''], unknown: values.unknown }
  if (!values.lists) return { ...values, texts: ['', ...values.texts] }
  const fields =
    at === undefined ? values.lists.flat() : values.lists.map((list) => elementAt(list, at) ?? { text: '' })
  return {
    texts: [
      ...new Set([
        ...fields.filter(({ unknown }) => !unknown).map(({ text }) => text),
        ...(at === undefined ? ['', ...values.texts] : []),
      ]),
    ],
    unknown: fields.some(({ unknown }) => unknown),
  }
}

/** `${!x}`: what is held by what x names. */
function pointedAt({ parameter, operation, index }: Parameter, reader: Reader): Lists {
  const names = operation || index ? undefined : valuesOf(parameter, reader)
  if (!names || names.unknown || names.globs) return [[ANYTHING]]
  return names.texts.flatMap((name): Lists => {
    const held = /^[A-Za-z_]\w*$/.test(name) ? valuesOf(name, reader) : undefined
    if (!held) return [[ANYTHING]]
    const { texts, unknown } = held.lists ? elements(held, 0) : held
    return [...texts.map((text) => [{ text }]), ...(unknown ? [[ANYTHING]] : [])]
  })
}

function changed(
  values: Values | undefined,
  operation: NonNullable<Parameter['operation']>,
  reader: Reader,
): Values {
  if (!values) return NOT_KNOWN
  const all = values.texts.map((text) => operate(text, operation, reader.expandOne))
  return {
    texts: [...new Set(all.flatMap((texts) => texts ?? []))],
    unknown: values.unknown || values.globs !== undefined || all.includes(undefined),
  }
}

/** Of `${a[@]}`: a slice takes elements away, all else changes each of them. */
function operated(lists: Lists | undefined, operation: Parameter['operation'], reader: Reader): Lists {
  if (!lists) return [[ANYTHING]]
  if (!operation) return lists
  if (operation.type === 'Slice') return sliced(lists, operation)
  if (operation.type === 'Default') return [[ANYTHING]]
  return lists.map((list) =>
    list.map((field) => {
      const texts = field.unknown ? undefined : operate(field.text, operation, reader.expandOne)
      return texts?.length === 1 ? { text: texts[0] ?? '' } : ANYTHING
    }),
  )
}

function sliced(lists: Lists, { offset, length }: Extract<Parameter['operation'], { type: 'Slice' }>): Lists {
  const from = numberOf(offset.value)
  const count = length ? numberOf(length.value) : Number.POSITIVE_INFINITY
  const plain = lists.every((list) => list.every(({ unknown }) => unknown !== 'many'))
  if (from === undefined || count === undefined || !plain) return [[ANYTHING]]
  // `${@:1}` begins with $1, `${a[@]:1}` with the second element: both are taken.
  return lists.flatMap((list) => [
    list.slice(from, from + count),
    list.slice(Math.max(0, from - 1), from - 1 + count),
  ])
}

const numberOf = (text: string) => (/^ *\d{1,6} *$/.test(text) ? Number(text) : undefined)
