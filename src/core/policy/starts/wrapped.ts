/** Takes off what only wraps another command. */
import { type Field, literal } from '../command.ts'
import type { Started } from '../look.ts'
import { isOption, textsOf } from '../options.ts'
import type { Scope } from '../scope.ts'
import { quote } from './called.ts'
import { loginScope } from './directory.ts'
import { readByShell, type Starting } from './starting.ts'
import { WRAPPERS, type Wrapper } from './wrappers.ts'

/** The one that fits, if it is one. */
export function wrapperOf({ program, args }: Starting): Wrapper | undefined {
  if (program === 'command' && looksUp(args)) return undefined
  return WRAPPERS.get(program)?.find(
    ({ after }) => !after || (hasWord(args, after.at(-1)) && endOf(after, args) !== -1),
  )
}

/** `command -v x`: of its own options, not of those of x. */
function looksUp(args: readonly Field[]): boolean {
  const end = args.findIndex(({ text }) => !isOption(text) || text === '--')
  return args.slice(0, end === -1 ? args.length : end).some(({ text }) => /^-p*[vV]/.test(text))
}

const hasWord = (args: readonly Field[], word: string | undefined) => {
  for (const { text } of args) if (text === word) return true
  return false
}

export function startWrapped(wrapper: Wrapper, starting: Starting): void {
  const { command, args, scope, walker, program } = starting
  starting.done()
  const here = program === 'watch' ? { ...scope, times: Number.POSITIVE_INFINITY } : scope
  const cleared = !KEEPS_VARIABLES.has(program)
  const gives = (text: Field | undefined) => starting.gives(text, [], { cleared, at: wrapped() })
  const next = (words: readonly Field[], change: Partial<Started> = {}, at: Scope = here) =>
    starting.next(words, change, at)
  const { values, flags } = wrapper
  const isVariable = (text: string) =>
    !wrapper.shell && (wrapper.variables ? /^[^=]+=/s : /^[A-Za-z_]\w*\+?=/).test(text)
  const assigned: string[] = []
  let skip = wrapper.skip ?? 0
  let at = 0
  let doubtful = false
  const { elsewhere } = wrapper
  const inside = elsewhere === true ? loginScope(here, walker) : { ...here }
  // `command cd x` changes where we are, `env -C x ls` only where it runs.
  const wrapped = () => (inside.cwds === scope.cwds ? here : inside)
  if (wrapper.after) at = endOf(wrapper.after, args)
  if (wrapper.dashes) {
    const dashes = args.findIndex(({ text }) => text === '--')
    if (dashes !== -1) {
      next(args.slice(dashes + 1))
      return
    }
  }
  for (; at < args.length; at++) {
    const arg = args[at]
    if (!arg) break
    const { text } = arg
    if (arg.unknown === 'many') {
      starting.opaque('starts something that is not known')
      break
    }
    if (isOption(text)) {
      const given = wrapper.text && textIn(text, wrapper.text, values)
      if (given) {
        const whole = given.attached ? { ...arg, text: given.attached } : args[++at]
        if (!/^(-S|--split-string)$/.test(given.option)) gives(whole)
        else if (whole) {
          if (SPLIT_OTHERWISE.test(withoutQuoted(whole.text)))
            walker.giveUp('it has a text split into words in a way of its own')
          // `env -S '-i docker system' prune`: further words follow the text.
          gives({ ...whole, text: ['env', whole.text, ...args.slice(at + 1).map(quote)].join(' ') })
          return
        }
        continue
      }
      if (text === '--') {
        at++
        while (skip > 0 && skip < 99) {
          at++
          skip--
        }
        break
      }
      if (wrapper.edits?.test(text)) {
        walker.add({ ...command, words: [literal('sudoedit'), ...args.slice(at + 1)] }, scope)
        return
      }
      if (/^--?entrypoint$/.test(text)) next([args[at + 1] ?? literal(':'), ...args.slice(at + 3)])
      else if (/^--entrypoint=/.test(text)) next([literal(text.slice(13)), ...args.slice(at + 2)])
      if (elsewhere instanceof RegExp && elsewhere.test(text)) inside.cwds = loginScope(scope, walker).cwds
      const [, place] = (text.startsWith('--') && /^--(?:chdir|working-directory)=(.*)$/s.exec(text)) || []
      if (place !== undefined) walker.changeDirectory({ ...arg, text: place }, inside)
      else if (/^(-C|-D|--chdir|--working-directory)$/.test(text) && values.has(text)) {
        walker.changeDirectory(args[at + 1], inside)
      }
      if (values.has(text) || endsWithValueOption(text, values)) at++
      else if (flags ? !isFlag(text, flags, values) : !isKnownFlag(text)) {
        doubtful = true
        if (flags) starting.opaque('is given an option that is not known')
      }
      continue
    }
    if (text === '-' && wrapper.dash) continue
    if (isVariable(text)) {
      assigned.push(text)
      continue
    }
    if (skip > 0) {
      skip--
      continue
    }
    break
  }
  // Behind `--` as well.
  for (; wrapper.variables && isVariable(args[at]?.text ?? ''); at++) assigned.push(args[at]?.text ?? '')
  const rest = args.slice(at)
  if (rest.length === 0) {
    if (!wrapper.shellByDefault) return
    const { idle } = wrapper
    if (idle && args.some(({ text }) => idle.test(text)) && args.every(({ text }) => idle.test(text))) return
    const { input } = scope
    if (input.kind === 'text')
      walker.text(
        readByShell(input.text),
        starting.otherShell([], { input: { kind: 'none' } }, true, wrapped()),
      )
    else if (!wrapper.text || input.kind === 'unknown')
      starting.opaque('starts a shell that cannot be followed')
    return
  }
  if (wrapper.shell) {
    gives({
      text: textsOf(rest).join(' '),
      ...(rest.some(({ unknown }) => unknown) && { unknown: 'one' }),
    })
    return
  }
  const change = { assigned, ...(cleared && { cleared }) }
  next(rest, change, wrapped())
  // The value of an option that is not known here may have been taken for the command.
  if (doubtful)
    for (let from = 1; from < Math.min(rest.length, 6); from++) next(rest.slice(from), change, wrapped())
}

/** What they start has all variables that they have. */
const KEEPS_VARIABLES = new Set(
  'nohup setsid time timeout nice ionice stdbuf watch command builtin exec'.split(' '),
)

/** Outside of quotes, `env -S` takes these in another way than a shell does. */
const SPLIT_OTHERWISE = /[\\#;&|<>()`*?[~\n\r\v\f]/

const withoutQuoted = (text: string) => text.replaceAll(/'[^'\\]*'|"[^"\\]*"/g, '')

/**
 * Whether a word is an option that holds a text for a shell, alone, abbreviated or in a cluster, and the text itself
 * where it is attached. In a cluster, the first letter that takes a value takes the rest.
 */
function textIn(
  word: string,
  options: readonly string[],
  values: ReadonlySet<string>,
): { option: string; attached: string } | undefined {
  if (word.startsWith('--')) {
    const [name = ''] = word.split('=', 1)
    const option = name.length > 2 && !values.has(name) && options.find((long) => long.startsWith(name))
    return option ? { option, attached: word.slice(name.length + 1) } : undefined
  }
  for (let at = 1; at < word.length; at++) {
    const option = `-${word[at]}`
    if (options.includes(option)) return { option, attached: word.slice(at + 1) }
    if (values.has(option)) return undefined
  }
  return undefined
}

/** `-itu root`: the first letter that takes a value takes the rest of the cluster, or the next word if it is the last. */
function endsWithValueOption(text: string, values: ReadonlySet<string>): boolean {
  if (text.startsWith('--')) return false
  const taking = [...text].findIndex((letter, index) => index > 0 && values.has(`-${letter}`))
  return taking === text.length - 1
}

/** `-kn`, `--verbose`, `-uroot`, `--user=root`; `nice -5`. */
function isFlag(text: string, flags: ReadonlySet<string>, values: ReadonlySet<string>): boolean {
  const [name = ''] = text.split('=', 1)
  if (text.startsWith('--')) return name === text ? flags.has(name) : flags.has(name) || values.has(name)
  if (flags.has('-#') && /^--?\d+$/.test(text)) return true
  for (const letter of text.slice(1)) {
    if (values.has(`-${letter}`)) return true
    if (!flags.has(`-${letter}`)) return false
  }
  return true
}

const FLAGS =
  /^--(rm|detach|interactive|tty|preserve-env|login|stdin|non-interactive|foreground|pty|scope|ignore-environment|null|preserve-status|verbose|quiet|init|privileged|read-only|no-deps|user|wait|collect|fork|mount|net|pid|uts|ipc|map-root-user|all)$/

function isKnownFlag(text: string): boolean {
  return !text.startsWith('--') || text.includes('=') || FLAGS.test(text)
}

const OTHER_VERBS = /^(restart|stop|start|logs|ps|inspect|rm|system|compose|build|pull|get|describe)$/

/** Where the sub-command ends, or -1. Options before it may have values, so words in between do not count. */
function endOf(words: readonly string[], args: readonly Field[]): number {
  let at = 0
  for (let index = 0; index < args.length; index++) {
    const text = args[index]?.text ?? ''
    if (text === words[at]) at++
    else if (isOption(text)) continue
    else if (at === 0 && words.length === 1 && OTHER_VERBS.test(text)) return -1
    if (at === words.length) return index + 1
  }
  return -1
}
