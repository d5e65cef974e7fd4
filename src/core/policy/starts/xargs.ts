/** What `xargs` starts: what it reads becomes further words of the command. */
import { type Field, literal, UNKNOWN } from '../command.ts'
import { type GivenOptions, givenOptions, optionList } from '../given-options.ts'
import { isOption } from '../options.ts'
import type { Scope } from '../scope.ts'

const OPTIONS = optionList(
  '-0oprtx -a: -d: -E: -I: -J: -L: -n: -P: -s: -e? -i? -l? --null --open-tty --interactive --no-run-if-empty --verbose --exit --arg-file= --delimiter= --max-lines? --max-args= --max-procs= --max-chars= --eof? --replace? --process-slot-var=',
)

const MOST_WORDS = 16

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
      if (!isOption(text)) start([...args.slice(index), { text: UNKNOWN, unknown: 'many' }], inside)
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
    for (const line of text === undefined ? [UNKNOWN] : linesOf(text))
      start(filled(words, mark, line), inside)
    return
  }
  const read = text === undefined ? [{ text: UNKNOWN, unknown: 'many' as const }] : wordsOf(text, given)
  start([...words, ...read], inside)
  // It may be started several times, each time with some of the words.
  if (has(given, /^(-[nLls]|--max-(args|lines|chars))$/))
    for (let from = 1; from < Math.min(read.length, MOST_WORDS); from++)
      start([...words, ...read.slice(from)], inside)
}

const has = ({ options }: GivenOptions, names: RegExp) => options.some(({ name }) => names.test(name))

/** What stands for a line. */
function markOf({ options }: GivenOptions): string | undefined {
  const option = options.findLast(({ name }) => /^(-[IJi]|--replace)$/.test(name))
  return option && (option.value?.text || '{}')
}

const linesOf = (text: string) => text.split(/[\n\0]/).flatMap((line) => line.trimStart() || [])

function filled(words: readonly Field[], mark: string, line: string): Field[] {
  return words.map((word) =>
    word.text.includes(mark)
      ? { text: word.text.replaceAll(mark, line), ...(line === UNKNOWN && { unknown: 'one' as const }) }
      : word,
  )
}

function wordsOf(text: string, { options }: GivenOptions): Field[] {
  const delimiter = options.findLast(({ name }) => /^(-[d0]|--(delimiter|null))$/.test(name))
  if (!delimiter)
    return text
      .split(/[\s\0]+/)
      .filter(Boolean)
      .map((word) => literal(word.replaceAll(/['"\\]/g, '')))
  const mark = delimiter.value === undefined ? '\0' : delimiter.value.unknown ? '' : delimiter.value.text
  const known = mark === '\\n' ? '\n' : mark === '\\0' ? '\0' : mark
  return known.length === 1 && known !== '\\'
    ? text
        .split(known)
        .filter((word) => word !== '')
        .map(literal)
    : [{ text: UNKNOWN, unknown: 'many' }]
}
