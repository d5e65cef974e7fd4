/** Where in the words of a command a pattern such as `docker restart {service}` finds its services. */
import type { Field } from './command.ts'
import type { ServicePattern } from './cooldown.ts'
import { isOption } from './options.ts'
import { mayHaveOptions, mayHaveWords, type Subject, wordMeets } from './pattern.ts'

const MOST_WORDS = 300

/**
 * All services, over all ways in which the words may be read; `unknown` if a word that only the running shell knows
 * may make it match; `undefined` if it does not match, or only rehearses.
 */
export function matchServices(
  service: ServicePattern,
  { args, anyProgram }: Subject,
): Field[] | 'unknown' | undefined {
  const { pattern } = service
  if (!mayHaveWords(pattern, args) || !mayHaveOptions(pattern, args)) return undefined
  if (!anyProgram && rehearses(service, args)) return undefined
  if (args.length > MOST_WORDS) return 'unknown'
  const found = new Set<Field>()
  const known = new Set<number>()
  const todo: Reading[] = [{ at: 0, index: 0, held: -1, doubtful: false }]
  let matched = false
  for (let reading = todo.pop(); reading; reading = todo.pop()) {
    const { at, index, held, doubtful } = reading
    const key = ((at * (MOST_WORDS + 3) + index) * (MOST_WORDS + 1) + held + 1) * 2 + (doubtful ? 1 : 0)
    if (known.has(key)) continue
    known.add(key)
    const services = servicesAt(reading, service, args)
    if (services) {
      if (doubtful) return 'unknown'
      matched = true
      for (const one of services) found.add(one)
    } else todo.push(...furtherReadings(reading, service, args))
  }
  return matched ? [...found] : undefined
}

/** One way to read the words: so far into the pattern, so far into the words. */
interface Reading {
  at: number
  index: number
  /** Which word is the service; -1 before it was met. */
  held: number
  /** A word that is not known was taken for one of the pattern. */
  doubtful: boolean
}

/** What the pattern found, if this reading has met all of it. */
function servicesAt(
  { at, index, held }: Reading,
  { pattern, place, each, options }: ServicePattern,
  args: readonly Field[],
): Field[] | undefined {
  if (at === place && each) return operandsFrom(index, args, options)
  if (at < pattern.operands.length) return undefined
  const service = args[held]
  return service ? [service] : []
}

function furtherReadings(
  reading: Reading,
  { pattern: { operands }, place, options }: ServicePattern,
  args: readonly Field[],
): Reading[] {
  const { at, index } = reading
  const arg = args[index]
  const word = operands[at]
  if (!arg || word === undefined) return []
  const skipped = { ...reading, index: index + 1 }
  const met = { ...skipped, at: at + 1 }
  if (isOption(arg.text)) {
    const withValue = { ...reading, index: index + 2 }
    if (takesValue(arg.text, options)) return [withValue]
    // Of an option that is not known, the next word may be the value.
    return arg.text.includes('=') || options.flags.has(arg.text) ? [skipped] : [skipped, withValue]
  }
  if (at === place) return [{ ...met, held: index }]
  // It may be all that is left of the pattern.
  if (arg.unknown === 'many' && !arg.tame) return [{ ...skipped, at: operands.length, doubtful: true }]
  if (word === '*') return [skipped, { ...reading, at: at + 1 }]
  if (arg.text === word) return [met]
  return wordMeets(word, arg, () => []) ? [{ ...met, doubtful: true }] : []
}

type KnownOptions = ServicePattern['options']

function operandsFrom(index: number, args: readonly Field[], options: KnownOptions): Field[] {
  const operands: Field[] = []
  for (let at = index; at < args.length; at++) {
    const arg = args[at]
    if (!arg) break
    if (!isOption(arg.text)) operands.push(arg)
    else if (takesValue(arg.text, options)) at++
  }
  return operands
}

/** `-t`, `--timeout`, `-dt`: the next word is its value. */
function takesValue(text: string, { values }: KnownOptions): boolean {
  if (values.has(text)) return true
  if (text.length < 3 || text[1] === '-') return false
  const taking = [...text].findIndex((letter, index) => index > 0 && values.has(`-${letter}`))
  return taking === text.length - 1
}

/** Certainly only says what it would do: the option is there, and is not the value of another one. */
function rehearses({ options }: ServicePattern, args: readonly Field[]): boolean {
  const at = args.findIndex(({ text, unknown }) => !unknown && options.rehearsing.has(text))
  if (at === -1) return false
  const [name = ''] = args[at]?.text.split('=', 1) ?? []
  const before = args[at - 1]?.text ?? ''
  if (isOption(before) && !before.includes('=') && !options.flags.has(before)) return false
  return !args.some(
    ({ text, unknown }, index) => index !== at && (unknown || text === '--' || text.startsWith(name)),
  )
}
