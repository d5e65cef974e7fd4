/**
 * Command patterns, `docker compose down *`. They are compared with parsed commands, word by word: `*` is any further
 * words, quoting does not matter, and neither does where the options stand.
 */
import { spend } from './budget.ts'
import { baseName, type Field, UNKNOWN } from './command.ts'
import { hasOption, isOption, optionsOf, textsOf, valueOptions } from './options.ts'
import { wildcard } from './paths.ts'

export interface CommandPattern {
  source: string
  program: string
  /** Words that are not options, in order. */
  operands: readonly string[]
  /** The first of them, if it stands for nothing but itself. */
  first: string | undefined
  options: ReadonlySet<string>
  /** Ends with `*`, so that further words may follow. */
  open: boolean
}

export type PatternResult = { ok: true; pattern: CommandPattern } | { ok: false; problem: string }

/** What is wrong with a pattern is said in words that complete "cannot be understood: …". */
export function compilePattern(source: string): PatternResult {
  const words = splitPattern(source)
  if (typeof words === 'string') return { ok: false, problem: words }
  const [name, ...rest] = words
  if (name === undefined) return { ok: false, problem: 'it is empty' }
  if (/[*?]/.test(name)) {
    return {
      ok: false,
      problem: `the name of the program (${name}) must be written out; * stands for further words`,
    }
  }
  if (name.includes('='))
    return { ok: false, problem: `${name} sets a variable; start with the name of the program` }
  if (isOption(name))
    return { ok: false, problem: `${name} is an option; start with the name of the program` }
  const open = rest.at(-1) === '*'
  const own = baseName(name)
  const program = canonicalProgram(own)
  const args = [...(isCompose(own) ? ['compose'] : []), ...(open ? rest.slice(0, -1) : rest)]
  const operands = args.filter((word) => !isOption(word))
  const options = optionsOf(program, args.filter(isOption).concat(operands))
  const [first] = operands
  const literal = first === undefined || /[*?/{]/.test(first) ? undefined : first
  return { ok: true, pattern: { source, program, operands, first: literal, options, open } }
}

/** Words with quotes and backslashes resolved; a text says what is wrong. */
function splitPattern(source: string): string[] | string {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < source.length; at++) {
    const char = source[at] ?? ''
    if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === "'" || char === '"') {
      const end = source.indexOf(char, at + 1)
      if (end === -1) return `the quote ${char} is not closed`
      word = (word ?? '') + source.slice(at + 1, end)
      at = end
    } else if (char === '\\') {
      if (at + 1 === source.length) return 'it ends with a backslash'
      word = (word ?? '') + source[++at]
    } else if (/[|&;<>()`\n]/.test(char) || (char === '$' && /[\w({]/.test(source[at + 1] ?? ''))) {
      return `${char} means something to a shell; a pattern is one command (put it in quotes if it is meant as it stands)`
    } else word = (word ?? '') + char
  }
  if (word !== undefined) words.push(word)
  return words
}

/** A command as patterns see it. */
export interface Subject {
  program: string
  /** The name cannot be known, or it is a path to something that may be a copy of any program. */
  anyProgram: boolean
  args: readonly Field[]
}

/** Programs that take the words of docker and do what it does. */
export const DOCKERS: readonly string[] = ['docker', 'podman', 'podman-remote', 'nerdctl']
/** `docker-compose` is `docker compose`. */
const COMPOSES = new Set(DOCKERS.map((name) => `${name}-compose`))
const SAME_PROGRAM = new Map([...DOCKERS, ...COMPOSES].map((name) => [name, 'docker']))

/** One program under one name. Where `isCompose`, `compose` is the first argument. */
export function canonicalProgram(name: string): string {
  return SAME_PROGRAM.get(name) ?? name
}

export function isCompose(name: string): boolean {
  return COMPOSES.has(name)
}

/**
 * Whether the command may be what the pattern forbids. In doubt it is: what is unknown may be any word, and the word
 * after an option may be its value or not.
 */
export function mayMatch(
  pattern: CommandPattern,
  { program, anyProgram, args }: Subject,
  forms: Forms,
): boolean {
  if (program !== pattern.program && !(anyProgram && pattern.operands.length > 0)) return false
  if (!mayHaveWords(pattern, args)) return false
  return mayHaveOptions(pattern, args) && follows(pattern.operands, args, pattern.open, forms)
}

/** A quick no: a word that must be there is not, and nothing is there that may become it. */
export function mayHaveWords({ first }: CommandPattern, args: readonly Field[]): boolean {
  if (first === undefined) return true
  for (const { text, unknown, glob } of args) if (text === first || unknown || glob) return true
  return false
}

/** Whether all options of the pattern are there; what is unknown may be any of them. */
export function mayHaveOptions({ program, options }: CommandPattern, args: readonly Field[]): boolean {
  if (options.size === 0 || args.some(({ unknown, tame }) => unknown && !tame)) return true
  const given = optionsOf(program, textsOf(args))
  for (const option of options) if (!hasOption(given, option)) return false
  return true
}

/** Other texts that a word may mean: the path it resolves to. */
export type Forms = (field: Field) => readonly string[]

/** Whether the arguments from one place on can be the words looked for from another place on. */
function follows(wanted: readonly string[], args: readonly Field[], open: boolean, forms: Forms): boolean {
  // Each pair of places is looked at once: else a long row of options would take for ever.
  const failed = args.length > 8 ? new Set<number>() : undefined
  const from = (at: number, index: number): boolean => {
    const key = at * (args.length + 2) + index
    if (failed?.has(key)) return false
    const found = step(at, index)
    if (!found) failed?.add(key)
    return found
  }
  const step = (at: number, index: number): boolean => {
    spend(1)
    const arg = args[index]
    const word = wanted[at]
    if (arg === undefined) return word === undefined
    if (arg.unknown === 'many') {
      // It may be any number of the words that are looked for.
      for (let taken = at; taken <= wanted.length; taken++) if (from(taken, index + 1)) return true
      return word === undefined && open
    }
    if (isOption(arg.text)) {
      if (from(at, index + 1)) return true
      // The next word may be the value of this option.
      return args[index + 1] !== undefined && !arg.text.includes('=') && from(at, index + 2)
    }
    if (word === undefined) return open
    if (word === '*') return from(at, index + 1) || from(at + 1, index) || from(at + 1, index + 1)
    return wordMeets(word, arg, forms) && from(at + 1, index + 1)
  }
  return from(0, 0)
}

export function wordMeets(word: string, arg: Field, forms: Forms): boolean {
  if (arg.text === word) return true
  if (arg.unknown || arg.glob) {
    if (arg.tame === 'number') return false
    if (wildcard(arg.text.replaceAll(UNKNOWN, '*')).test(word)) return true
  }
  if (/[*?]/.test(word) || word.startsWith('/')) {
    const accepts = wildcard(word)
    return accepts.test(arg.text) || forms(arg).some((form) => accepts.test(form))
  }
  return false
}

/** Words that a text has, in this order, if it speaks of something. */
export type Spoken = readonly string[]

/** How a text may speak of a command that has these words. One word alone says too little. */
export function spokenForms(words: readonly string[]): readonly Spoken[] {
  const [program = '', ...others] = words
  if (others.length === 0) return []
  return (program === 'docker' ? DOCKERS : [program]).map((name) => [name, ...others])
}

export function speaksOf(text: string, forms: readonly Spoken[]): boolean {
  for (const words of forms) if (hasInOrder(text, words)) return true
  return false
}

function hasInOrder(text: string, words: Spoken): boolean {
  let from = 0
  for (const word of words) {
    const at = text.indexOf(word, from)
    if (at === -1) return false
    from = at + word.length
  }
  return true
}

/**
 * Whether the command certainly is what the pattern allows. In doubt it is not: before the words of the pattern only
 * options may stand whose form is known.
 */
export function surelyMatches(pattern: CommandPattern, { program, anyProgram, args }: Subject): boolean {
  if (anyProgram || program !== pattern.program) return false
  return surelyHasWords(pattern, program, args) && surelyHasOptions(pattern, program, args)
}

function surelyHasOptions({ options }: CommandPattern, program: string, args: readonly Field[]): boolean {
  if (options.size === 0) return true
  const given = optionsOf(program, textsOf(args))
  for (const option of options) if (!given.has(option)) return false
  return true
}

function surelyHasWords(pattern: CommandPattern, program: string, args: readonly Field[]): boolean {
  let withValue: readonly string[] | undefined
  let at = 0
  for (let from = 0; from < args.length; from++) {
    const arg = args[from]
    if (arg === undefined) break
    const word = pattern.operands[at]
    if (word === undefined) {
      if (pattern.open) return true
      if (!isOption(arg.text) || arg.unknown === 'many') return false
      continue
    }
    if (arg.unknown || arg.glob) return false
    if (isOption(arg.text)) {
      withValue ??= valueOptions(program, args)
      if (withValue.includes(arg.text)) from++
      else if (!isKnownFlag(arg.text, pattern, withValue)) return false
      continue
    }
    if (word !== arg.text && !(/[*?]/.test(word) && wildcard(word).test(arg.text))) return false
    at++
  }
  return at === pattern.operands.length
}

/** `--context=x`, an option of the pattern itself, or one that never takes a value. */
function isKnownFlag(text: string, pattern: CommandPattern, withValue: readonly string[]): boolean {
  const [name = text] = text.split('=', 1)
  if (name !== text && withValue.includes(name)) return true
  if (pattern.operands.length === 0 || pattern.options.has(name)) return true
  return /^(-D|--debug|--no-pager|-P|-q|--quiet|--user|--system|--no-block|-v|--verbose|--tls|--tlsverify)$/.test(
    text,
  )
}
