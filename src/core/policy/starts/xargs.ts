/** What `xargs` starts: what it reads becomes further words of the command. */
import { type Field, literal } from '../command.ts'
import { type GivenOptions, givenOptions, optionList } from '../given-options.ts'
import { isOption } from '../options.ts'
import type { Scope } from '../scope.ts'
import { ANYTHING } from '../values.ts'

const OPTIONS = optionList(
  '-0oprtx -a: -d: -E: -I: -J: -L: -n: -P: -s: -e? -i? -l? --null --open-tty --interactive --no-run-if-empty --verbose --exit --arg-file= --delimiter= --max-lines? --max-args= --max-procs= --max-chars= --eof? --replace? --process-slot-var=',
)

const MOST_WORDS = 8
const MOST_RUNS = 64

export function xargsCommands(
  args: readonly Field[],
  scope: Scope,
  start: (words: readonly Field[], inside: Scope) => void,
  opaque: (why: string) => void,
): void {
  const given = givenOptions(args, OPTIONS, { leading: true })
  if (!given) {
    opaque('is given an option that is not known')
    // Any word may be where the command begins.
    const inside: Scope = { ...scope, input: { kind: 'unknown' }, times: Number.POSITIVE_INFINITY }
    for (const [index, { text }] of args.entries())
      if (!isOption(text)) start([...args.slice(index), ANYTHING], inside)
    return
  }
  // Without a command, it prints.
  const words = [...given.operands.slice(0, 1), ...given.rest]
  if (words.length === 0) return
  const { input } = scope
  const text = input.kind === 'text' && !has(given, /^(-a|--arg-file)$/) ? input.text : undefined
  const times = text === undefined ? Number.POSITIVE_INFINITY : scope.times
  const inside: Scope = { ...scope, input: { kind: 'unknown' }, times }
  const mark = markOf(given)
  if (mark !== undefined) {
    const lines = text === undefined ? [ANYTHING] : wordsOf(text, given, /\n/)
    for (const line of lines) start(filled(words, mark, line), inside)
    return
  }
  const read = text === undefined ? [ANYTHING] : wordsOf(text, given, /[ \t\n]/)
  for (const some of runsOf(read, given)) start([...words, ...some], inside)
}

/** It may be started several times, each time with some of the words. */
function runsOf(read: readonly Field[], { options }: GivenOptions): (readonly Field[])[] {
  const limits = options.filter(({ name }) => /^(-[nLls]|--max-(args|lines|chars))$/.test(name))
  const [limit, ...others] = limits
  if (!limit) return [read]
  const size = /^(-n|--max-args)$/.test(limit.name) && others.length === 0 ? Number(limit.value?.text) : 0
  const exact = Number.isInteger(size) && size > 0
  if (read.length > (exact ? MOST_RUNS : MOST_WORDS)) return [read, [ANYTHING]]
  const runs: (readonly Field[])[] = []
  for (let from = 0; from < read.length; from += exact ? size : 1) {
    if (exact) runs.push(read.slice(from, from + size))
    else for (let to = from + 1; to <= read.length; to++) runs.push(read.slice(from, to))
  }
  return runs.length > 0 ? runs : [read]
}

const has = ({ options }: GivenOptions, names: RegExp) => options.some(({ name }) => names.test(name))

/** What stands for a line. */
function markOf({ options }: GivenOptions): string | undefined {
  const option = options.findLast(({ name }) => /^(-[IJi]|--replace)$/.test(name))
  return option && (option.value?.text || '{}')
}

function filled(words: readonly Field[], mark: string, line: Field): Field[] {
  return words.map((word) =>
    word.text.includes(mark)
      ? {
          text: word.text.replaceAll(mark, () => line.text),
          ...(line.unknown && { unknown: 'one' as const }),
        }
      : word,
  )
}

/** `separator`: what ends a word, if no option says so. */
function wordsOf(text: string, { options }: GivenOptions, separator: RegExp): readonly Field[] {
  const delimiter = options.findLast(({ name }) => /^(-[d0]|--(delimiter|null))$/.test(name))
  if (!delimiter) return unquoted(text, separator)?.map(literal) ?? [ANYTHING]
  const mark = delimiter.value === undefined ? '\0' : delimiter.value.unknown ? '' : delimiter.value.text
  const known = mark === '\\n' ? '\n' : mark === '\\0' ? '\0' : mark
  if (known.length !== 1 || known === '\\') return [ANYTHING]
  const words = text.split(known).filter((word) => word !== '')
  return words.map(literal)
}

/** Quotes keep what is between them as it is, a backslash what is behind it. `undefined`: a quote is not closed. */
function unquoted(text: string, separator: RegExp): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (word === undefined && /\s/.test(char)) continue
    if (separator.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (char === "'" || char === '"') {
      const end = text.indexOf(char, at + 1)
      const inside = text.slice(at + 1, end)
      if (end === -1 || inside.includes('\n')) return undefined
      word = (word ?? '') + inside
      at = end
    } else {
      if (char === '\\') at++
      word = (word ?? '') + text.charAt(at)
    }
  }
  return word === undefined ? words : [...words, word]
}
