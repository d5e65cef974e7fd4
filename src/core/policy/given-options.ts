/** Which options a command was given, if all of them are known. One that is not known could mean anything. */
import { type Field, UNKNOWN } from './command.ts'
import { isOption } from './options.ts'

/**
 * The options a program may be given, in words: `-abc` may stand alone or in a cluster, `-n:` takes a value, `-M?` may have one
 * attached, `--long`, `--since=` takes a value, `--color?` may have one behind `=`, `-#` is a number, `-word!` is
 * written with one dash and takes no value, `-word!:` takes one.
 */
export interface OptionList {
  /** `--long`, and those that are written with one dash. */
  words: ReadonlyMap<string, Kind>
  letters: ReadonlyMap<string, { name: string; kind: Kind }>
}

type Kind = 'flag' | 'value' | 'optional'

export function optionList(...lists: readonly string[]): OptionList {
  const words = new Map<string, Kind>()
  const letters = new Map<string, { name: string; kind: Kind }>()
  for (const word of lists.join(' ').split(/\s+/).filter(Boolean)) {
    const kind = /[:=]$/.test(word) ? 'value' : word.endsWith('?') ? 'optional' : 'flag'
    const name = word.replace(/[:=?]$/, '')
    if (name.endsWith('!')) words.set(name.slice(0, -1), kind)
    else if (name.startsWith('--')) words.set(name, kind)
    else for (const letter of name.slice(1)) letters.set(letter, { name: `-${letter}`, kind })
  }
  return { words, letters }
}

export interface GivenOptions {
  operands: readonly Field[]
  /** Each option with its value, in order. */
  options: readonly GivenOption[]
  /** What follows the first operand, when only options before it were asked for. */
  rest: readonly Field[]
}

interface GivenOption {
  name: string
  value: Field | undefined
}

interface Reading {
  /** Only the options before the first operand. */
  leading?: boolean
  /** Whether an operand that is not known may be an option: by default it may. */
  trusting?: boolean
}

/** `undefined`: there is an option that is not in the list, or may be. */
export function givenOptions(
  fields: readonly Field[],
  list: OptionList,
  { leading = false, trusting = false }: Reading = {},
): GivenOptions | undefined {
  const operands: Field[] = []
  const options: GivenOption[] = []
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] as Field
    const { text } = field
    if (!isOption(text)) {
      if (!trusting && mayBeOption(field)) return undefined
      operands.push(field)
      if (leading) return { operands, options, rest: fields.slice(at + 1) }
      continue
    }
    if (text === '--' || (text === '--end-of-options' && list.words.has(text))) {
      operands.push(...fields.slice(at + 1))
      return { operands, options, rest: fields.slice(at + 2) }
    }
    const used = readOption(field, fields[at + 1], list, options)
    if (used === undefined) return undefined
    at += used
  }
  return { operands, options, rest: [] }
}

/** A value that is not known, or a file that is named like an option. */
export const mayBeOption = ({ text, unknown, tame, local, glob }: Field) =>
  (!!unknown && !tame && !local && text.startsWith(UNKNOWN)) || (!!glob && /^[*?[]/.test(text))

/** How many further words belong to it. */
function readOption(
  field: Field,
  next: Field | undefined,
  list: OptionList,
  options: GivenOption[],
): number | undefined {
  const { text } = field
  const sign = text.indexOf('=')
  const [name, inline] = sign > 1 ? [text.slice(0, sign), text.slice(sign + 1)] : [text, undefined]
  const attached = (part: string) => ({ ...field, text: part })
  const whole = list.words.get(name)
  if (whole === 'value') {
    const value = inline === undefined ? next : attached(inline)
    options.push({ name, value })
    return value && inline === undefined ? 1 : value ? 0 : undefined
  }
  if (whole === 'flag' && inline !== undefined) return undefined
  if (whole) {
    options.push({ name, value: inline === undefined ? undefined : attached(inline) })
    return 0
  }
  if (text.startsWith('--')) return undefined
  const { letters } = list
  if (letters.has('#') && /^-\d+$/.test(text)) return 0
  for (let at = 1; at < text.length; at++) {
    const letter = letters.get(text[at] as string)
    if (!letter) return undefined
    if (letter.kind === 'flag') {
      options.push({ name: letter.name, value: undefined })
      continue
    }
    const rest = text.slice(at + 1)
    if (rest || letter.kind === 'optional') {
      options.push({ name: letter.name, value: rest ? attached(rest) : undefined })
      return 0
    }
    options.push({ name: letter.name, value: next })
    return next ? 1 : undefined
  }
  return 0
}
