/**
 * Command patterns, `docker compose down *`. They are compared with argument lists word by word: `*` is any further
 * words, and where the options stand does not matter. What is forbidden is searched for generously (`mayMatch`), what is
 * allowed is recognised only when it is certain (`surelyMatches`). Both take time proportional to the number of arguments.
 */
import { isOption, type Reading, uncertainOption } from './arguments.ts'
import { abbreviatesOption, optionNames } from './option-names.ts'
import { baseName } from './paths.ts'

export interface CommandPattern {
  source: string
  program: string
  /** Words that are not options, in order. */
  operands: readonly string[]
  options: ReadonlySet<string>
  /** Ends with `*`, so that further words may follow. */
  open: boolean
}

export type PatternResult = { ok: true; pattern: CommandPattern } | { ok: false; problem: string }

/** The problem of a pattern is worded to complete "cannot be understood: …". */
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
  const { program, args } = canonical(name, open ? rest.slice(0, -1) : rest)
  const operands = args.filter((word) => !isOption(word))
  const options = optionNames(program, [...operands, ...args.filter(isOption)])
  return { ok: true, pattern: { source, program, operands, options, open } }
}

/** For patterns that were checked when the configuration was loaded; throws for others. */
export function checkedPattern(source: string): CommandPattern {
  const result = compilePattern(source)
  if (result.ok) return result.pattern
  throw new Error(`the command pattern ${JSON.stringify(source)} cannot be understood: ${result.problem}`)
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

/** Programs that take the words of docker and do what it does. */
const DOCKERS = new Set(['docker', 'podman', 'podman-remote', 'nerdctl'])

/** One program under one name: `podman-compose up` is `docker compose up`, `git-push` is `git push`. */
export function canonical(
  name: string,
  args: readonly string[],
): { program: string; args: readonly string[] } {
  const own = baseName(name)
  if (DOCKERS.has(own)) return { program: 'docker', args }
  const [, stem = '', sub = ''] = /^(\w+(?:-remote)?)-([\w-]+)$/.exec(own) ?? []
  if (sub === 'compose' && DOCKERS.has(stem)) return { program: 'docker', args: ['compose', ...args] }
  return stem === 'git' ? { program: 'git', args: [sub, ...args] } : { program: own, args }
}

/** Whether the arguments may be what the pattern forbids: the word after an option may be its value or not. */
export function mayMatch(pattern: CommandPattern, args: readonly string[]): boolean {
  return mayHaveOptions(pattern, args) && mayFollow(pattern, args)
}

function mayHaveOptions({ program, options }: CommandPattern, args: readonly string[]): boolean {
  if (options.size === 0) return true
  const given = optionNames(program, args)
  for (const option of options) if (!abbreviatesOption(given, option)) return false
  return true
}

/** Keeps, for each argument, the set of places in the pattern that may have been reached before it. */
function mayFollow({ operands, open }: CommandPattern, args: readonly string[]): boolean {
  const end = operands.length
  let now = new Set([0])
  let next = new Set<number>()
  for (const arg of args) {
    let after = new Set<number>()
    if (isOption(arg)) {
      // The next word may be the value of this option.
      if (!arg.includes('=')) after = new Set(now)
      for (const at of now) next.add(at)
    } else {
      for (const at of withSkippedWildcards(now, operands)) {
        const word = operands[at]
        if (word === undefined) {
          if (open) return true
        } else if (word === '*') {
          next.add(at).add(at + 1)
        } else if (wordMeets(word, arg)) next.add(at + 1)
      }
    }
    now = next
    next = after
    if (now.size === 0 && next.size === 0) return false
  }
  for (const at of next) now.add(at)
  return withSkippedWildcards(now, operands).has(end)
}

/** `*` in the middle may also be no word at all. */
function withSkippedWildcards(places: ReadonlySet<number>, operands: readonly string[]): Set<number> {
  const all = new Set(places)
  for (const at of all) if (operands[at] === '*') all.add(at + 1)
  return all
}

export function wordMeets(word: string, arg: string): boolean {
  if (arg === word) return true
  return /[*?]/.test(word) && wildcard(word).test(arg)
}

const WILDCARDS = new Map<string, RegExp>()

function wildcard(word: string): RegExp {
  const known = WILDCARDS.get(word)
  if (known) return known
  const parts = word.replaceAll(/\*+/g, '*').replaceAll(/[^\w*?]/g, '\\$&')
  // In a path, `*` stands for one name: `/*` is what is directly below the root.
  const any = word.startsWith('/') ? '[^/]' : '[^]'
  const made = new RegExp(`^${parts.replaceAll('*', `${any}*`).replaceAll('?', any)}$`)
  WILDCARDS.set(word, made)
  return made
}

/**
 * Whether the call certainly is what the pattern allows: before the words of the pattern only options may stand that are
 * known, so that no word is mistaken for a value or the other way round.
 */
export function surelyMatches(pattern: CommandPattern, reading: Reading): boolean {
  const { operands, options, open, program } = pattern
  if (program !== reading.program) return false
  const { words, unknown } = reading
  if (open ? words.length < operands.length : words.length !== operands.length || reading.inner) return false
  for (const [at, word] of operands.entries()) if (!wordMeets(word, words[at] ?? '')) return false
  const own = unknown.filter(({ text }) => !options.has(text.replace(/=.*$/s, '')))
  if (own.some(({ words: before }) => before < operands.length)) return false
  if (uncertainOption({ ...reading, unknown: own }, Math.min(operands.length, 2)) !== undefined) return false
  if (options.size === 0) return true
  const given = optionNames(program, reading.args.slice(0, reading.own))
  for (const option of options) if (!given.has(option)) return false
  return true
}
