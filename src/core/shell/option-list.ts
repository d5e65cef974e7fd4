/** Which options a command was given, if all of them are known. An option that is not known could mean anything. */

/**
 * The options of a program in words: `-abc` are flags, alone or combined, `-n:` takes a value, `-M?` may have one
 * attached, `--long` is a flag, `--since=` takes a value, `--color?` may have one behind `=`, `-#` is a number.
 */
export interface OptionList {
  words: ReadonlyMap<string, Kind>
  letters: ReadonlyMap<string, Kind>
}

type Kind = 'flag' | 'value' | 'optional'

export function optionList(text: string): OptionList {
  const words = new Map<string, Kind>()
  const letters = new Map<string, Kind>()
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const kind = /[:=]$/.test(word) ? 'value' : word.endsWith('?') ? 'optional' : 'flag'
    const name = word.replace(/[:=?]$/, '')
    if (name.startsWith('--')) words.set(name, kind)
    else for (const letter of name.slice(1)) letters.set(letter, kind)
  }
  return { words, letters }
}

export interface GivenOption {
  name: string
  value: string | undefined
}

export interface GivenOptions {
  options: readonly GivenOption[]
  operands: readonly string[]
}

/** `leading`: reads options only up to the first operand. undefined: an option is not in the list. */
export function givenOptions(
  args: readonly string[],
  list: OptionList,
  { leading = false } = {},
): GivenOptions | undefined {
  const options: GivenOption[] = []
  const operands: string[] = []
  for (let at = 0; at < args.length; at++) {
    const text = args[at] ?? ''
    if (text === '--') return { options, operands: operands.concat(args.slice(at + 1)) }
    if (!text.startsWith('-') || text === '-') {
      if (leading) return { options, operands: args.slice(at) }
      operands.push(text)
      continue
    }
    const used = readOption(text, args[at + 1], list, options)
    if (used === undefined) return undefined
    at += used
  }
  return { options, operands }
}

/** How many further words belong to the option. */
function readOption(
  text: string,
  next: string | undefined,
  { words, letters }: OptionList,
  options: GivenOption[],
): number | undefined {
  if (text.startsWith('--')) {
    const [name = text] = text.split('=', 1)
    const inline = name === text ? undefined : text.slice(name.length + 1)
    const kind = words.get(name)
    if (kind === undefined || (kind === 'flag' && inline !== undefined)) return undefined
    const separate = kind === 'value' && inline === undefined
    if (separate && next === undefined) return undefined
    options.push({ name, value: separate ? next : inline })
    return separate ? 1 : 0
  }
  if (letters.has('#') && /^-\d+$/.test(text)) return 0
  for (let at = 1; at < text.length; at++) {
    const letter = text.charAt(at)
    const kind = letters.get(letter)
    if (kind === undefined) return undefined
    const attached = text.slice(at + 1)
    if (kind === 'flag') options.push({ name: `-${letter}`, value: undefined })
    else if (attached || kind === 'optional') {
      options.push({ name: `-${letter}`, value: attached || undefined })
      return 0
    } else {
      options.push({ name: `-${letter}`, value: next })
      return next === undefined ? undefined : 1
    }
  }
  return 0
}
