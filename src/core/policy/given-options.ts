/** Which options a command was given, if all of them are known. One that is not known could mean anything. */
import { type Field, UNKNOWN } from './command.ts'

/**
 * The options a program may be given, in words: `-abc` may stand alone or in a cluster, `-n:` takes a value, `-M?` may have one
 * attached, `--long`, `--since=` takes a value, `--color?` may have one behind `=`, `-#` is a number, `-word!` is
 * written with one dash and takes no value, `-word!:` takes one.
 */
export type OptionList = ReadonlyMap<string, 'flag' | 'value' | 'optional'>

export function optionList(...lists: readonly string[]): OptionList {
  const known = new Map<string, 'flag' | 'value' | 'optional'>()
  for (const word of lists.join(' ').split(/\s+/).filter(Boolean)) {
    const kind = /[:=]$/.test(word) ? 'value' : word.endsWith('?') ? 'optional' : 'flag'
    const name = word.replace(/[:=?]$/, '')
    if (name.endsWith('!')) known.set(name, kind)
    else if (name.startsWith('--')) known.set(name, kind)
    else for (const letter of name.slice(1)) known.set(`-${letter}`, kind)
  }
  return known
}

export interface GivenOptions {
  operands: Field[]
  /** Each option with its value, in order. */
  options: { name: string; value: Field | undefined }[]
  /** What follows the first operand, when only options before it were asked for. */
  rest: readonly Field[]
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
  const given: GivenOptions = { operands: [], options: [], rest: [] }
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] as Field
    const { text } = field
    if (text === '--' || (text === '--end-of-options' && list.has(text))) {
      given.operands.push(...fields.slice(at + 1))
      given.rest = fields.slice(at + 2)
      return given
    }
    if (!/^-./s.test(text)) {
      if (!trusting && mayBeOption(field)) return undefined
      given.operands.push(field)
      if (!leading) continue
      given.rest = fields.slice(at + 1)
      return given
    }
    const used = readOption(field, fields[at + 1], list, given.options)
    if (used === undefined) return undefined
    at += used
  }
  return given
}

/** A value that is not known, or a file that is named like an option. */
export const mayBeOption = ({ text, unknown, tame, local, glob }: Field) =>
  (!!unknown && !tame && !local && text.startsWith(UNKNOWN)) || (!!glob && /^[*?[]/.test(text))

/** How many further words belong to it. */
function readOption(
  field: Field,
  next: Field | undefined,
  list: OptionList,
  options: GivenOptions['options'],
): number | undefined {
  const { text } = field
  const [, name = text, inline] = /^(--?[^=]+)=(.*)$/s.exec(text) ?? []
  const attached = (part: string) => ({ ...field, text: part })
  const whole = list.get(name.startsWith('--') ? name : `${name}!`)
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
  if (/^-\d+$/.test(text) && list.has('-#')) return 0
  for (let at = 1; at < text.length; at++) {
    const letter = `-${text[at]}`
    const kind = list.get(letter)
    const rest = text.slice(at + 1)
    if (!kind) return undefined
    if (kind === 'flag') options.push({ name: letter, value: undefined })
    else if (rest || kind === 'optional') {
      options.push({ name: letter, value: rest ? attached(rest) : undefined })
      return 0
    } else {
      options.push({ name: letter, value: next })
      return next ? 1 : undefined
    }
  }
  return 0
}
