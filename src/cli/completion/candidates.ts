/**
 * Finds in the command tree of commander the words that can stand at the place of the cursor. Pure: ids and names that only the
 * daemon knows are returned as a question (`ask`), which known-values.ts answers.
 */
import type { Argument, Command, Option } from 'commander'
import type { Referable } from '../../contract/reference.ts'
import { kindsTakenBy } from '../base/id-argument.ts'

export interface Candidate {
  value: string
  description: string
}

/** Things that the daemon can list. */
export type Listable = Referable | 'agent'

export interface Completion {
  candidates: Candidate[]
  ask: readonly Listable[]
}

/** `words` are the words after `reprise`; the last one is being typed and may be empty. */
export function complete(program: Command, words: readonly string[]): Completion {
  const typed = words.at(-1) ?? ''
  const place = walk(program, words.slice(0, -1))
  const [, flag, start = ''] = /^(--[\w-]+)=(.*)$/s.exec(typed) ?? []
  if (flag !== undefined && place.mayTakeOptions) {
    const option = findOption(place.command, flag)
    const { candidates, ask } = option ? valuesOf(option) : NOTHING
    const whole = candidates.map((one) => ({ ...one, value: `${flag}=${one.value}` }))
    return { candidates: beginningWith(whole, `${flag}=${start}`), ask }
  }
  if (place.valueOf) return matching(valuesOf(place.valueOf), typed)
  if (typed.startsWith('-') && place.mayTakeOptions) {
    return matching({ candidates: optionsOf(place.command), ask: [] }, typed)
  }
  return matching(argumentsAt(place), typed)
}

const NOTHING: Completion = { candidates: [], ask: [] }

interface Place {
  command: Command
  /** The number of arguments of the command before the cursor. */
  argumentCount: number
  /** False after `--`. */
  mayTakeOptions: boolean
  /** The option whose value is being typed. */
  valueOf: Option | null
}

function walk(program: Command, words: readonly string[]): Place {
  const place: Place = { command: program, argumentCount: 0, mayTakeOptions: true, valueOf: null }
  for (const word of words) {
    if (place.valueOf) place.valueOf = null
    else if (place.mayTakeOptions && word === '--') place.mayTakeOptions = false
    else if (place.mayTakeOptions && word.startsWith('-') && word !== '-') {
      const option = word.includes('=') ? undefined : findOption(place.command, word)
      if (option?.required) place.valueOf = option
    } else enter(place, word)
  }
  return place
}

/** Goes to the subcommand that a word names; any other word is an argument, of the default subcommand if there is one. */
function enter(place: Place, word: string): void {
  const subcommand = place.argumentCount === 0 ? subcommandOf(place.command, word) : undefined
  if (subcommand) {
    place.command = subcommand
    return
  }
  place.command = defaultOf(place.command) ?? place.command
  place.argumentCount++
}

const subcommandOf = (command: Command, word: string) =>
  command.commands.find((one) => one.name() === word || one.aliases().includes(word))

/** Commander has no public way to ask for the default subcommand. */
function defaultOf(command: Command): Command | undefined {
  const name: unknown = Reflect.get(command, '_defaultCommandName')
  return typeof name === 'string' ? subcommandOf(command, name) : undefined
}

/** The options of a command, of its default subcommand, and of the commands above it. */
function allOptions(command: Command): readonly Option[] {
  const above = command.parent ? allOptions(command.parent) : []
  return [...command.options, ...(defaultOf(command)?.options ?? []), ...above]
}

const findOption = (command: Command, flag: string) =>
  allOptions(command).find(({ long, short }) => long === flag || short === flag)

function optionsOf(command: Command): Candidate[] {
  const shown = allOptions(command).filter(({ hidden, long }) => !hidden && long && long !== '--version')
  const candidates = shown.map(({ long, description }) => ({ value: long as string, description }))
  return unique([...candidates, { value: '--help', description: 'print help' }])
}

function argumentsAt({ command, argumentCount }: Place): Completion {
  const subcommands =
    argumentCount > 0
      ? []
      : command
          .createHelp()
          .visibleCommands(command)
          .map((one) => ({ value: one.name(), description: one.summary() || one.description() }))
  const takers = (defaultOf(command) ?? command).registeredArguments
  const last = takers.at(-1)
  const taker = takers[argumentCount] ?? (last?.variadic ? last : undefined)
  const { candidates, ask } = taker ? valuesOf(taker) : NOTHING
  return { candidates: [...subcommands, ...candidates], ask }
}

function valuesOf(taker: Argument | Option): Completion {
  const choices = (taker.argChoices ?? []).map((value) => ({ value, description: '' }))
  const isAgent = 'long' in taker && taker.long === '--agent'
  return { candidates: choices, ask: isAgent ? ['agent'] : kindsTakenBy(taker) }
}

function matching({ candidates, ask }: Completion, typed: string): Completion {
  return { candidates: beginningWith(candidates, typed), ask }
}

export const beginningWith = (candidates: readonly Candidate[], typed: string) =>
  candidates.filter(({ value }) => value.startsWith(typed))

const unique = (candidates: readonly Candidate[]) => [
  ...new Map(candidates.map((one) => [one.value, one])).values(),
]
