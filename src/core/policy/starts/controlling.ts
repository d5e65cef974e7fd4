/** Builtins that change what the shell holds, where it is, or what it runs later. */
import { type Field, literal, UNKNOWN } from '../command.ts'
import { holdsArguments } from '../evaluated.ts'
import { isOption } from '../options.ts'
import { innerScope, type Scope } from '../scope.ts'
import { ANYTHING } from '../values.ts'
import { changeDirectories } from './directory.ts'
import { knownText, type Starting } from './starting.ts'

export const CONTROLLING: Record<string, (starting: Starting) => void> = {
  cd: changeDirectory,
  pushd: changeDirectory,
  popd: ({ walker, scope }) => walker.changeDirectory(literal('-'), scope),
  set,
  shift: ({ args: [count = literal('1'), ...others], scope }) => {
    const number = /^\d{1,4}$/.test(count.text) && others.length === 0 ? Number(count.text) : undefined
    scope.state.shift(number, scope.conditional)
  },
  return: ({ walker }) => walker.leave(),
  shopt: ({ args, walker }) => {
    if (args.some(({ text, unknown }) => unknown || !HARMLESS_SETTINGS.test(text)))
      walker.giveUp(READS_OTHERWISE)
  },
  eval: evaluate,
  trap,
  alias,
  hash: ({ args, walker }) => {
    if (args.some(({ text, unknown }) => unknown || /^-\w*p/.test(text)))
      walker.giveUp('it gives a program another name')
  },
}

export const READS_OTHERWISE = 'it changes how the shell reads what follows'

/** Of `shopt`, and of `bash -O`. */
export const HARMLESS_SETTINGS =
  /^(-[suqpo]+|nullglob|failglob|dotglob|globstar|extglob|inherit_errexit|expand_aliases|checkwinsize|huponexit|histappend|cmdhist)$/

function changeDirectory({ args, command, scope, walker }: Starting): void {
  changeDirectories(args, command.assigned, scope, (target, at, physically) =>
    walker.changeDirectory(target, at, physically),
  )
}

function evaluate(starting: Starting): void {
  const { args, command, scope, walker } = starting
  const text = args.map((arg) => arg.text).join(' ')
  if (args.some(({ unknown }) => unknown)) starting.opaque('evaluates a text that is not known')
  const inside: Scope = { ...scope, depth: scope.depth + 1 }
  scope.state.withAssigned(command.assigned, () => walker.text(knownText(text), inside))
  scope.cwds = inside.cwds
}

function alias(starting: Starting): void {
  const { args, scope, walker } = starting
  for (const { text, unknown } of args) {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    if (key === undefined || value === undefined) continue
    if (unknown) starting.opaque('defines an alias that is not known')
    // Then the next word may be an alias, too.
    if (/\s$/.test(value)) walker.giveUp('it defines an alias that changes what the next word means')
    scope.state.setAlias(key, value)
    walker.text(value, innerScope(scope))
  }
}

/**
 * Options of `set` and of bash itself that make variables of words behind the command, lead `cd` elsewhere, prefer builtins
 * to functions, or put in what was typed before.
 */
export function changesReading(args: readonly Field[]): boolean {
  for (let at = 0; /^[-+]./.test(args[at]?.text ?? '') && args[at]?.text !== '--'; at++) {
    const text = args[at]?.text ?? ''
    if (/^-[a-zA-Z]*[kPH]/.test(text)) return true
    if (!/^[-+][a-zA-Z]*o$/.test(text)) continue
    const setting = args[++at]
    if (setting && (setting.unknown || /^(keyword|physical|posix|history|histexpand)$/.test(setting.text)))
      return true
  }
  return false
}

function set(starting: Starting): void {
  const { args, walker } = starting
  setArguments(starting)
  holdsArguments(walker.evaluated, args)
  if (changesReading(args)) walker.giveUp(READS_OTHERWISE)
  if (args.some(({ text, unknown }) => unknown === 'many' || /^-\w*a|^allexport$/.test(text)))
    starting.opaque('may hand all variables to what is started')
}

/** `set -- a b`, `set a b`. */
function setArguments({ args, scope }: Starting): void {
  const { state, conditional } = scope
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]
    if (!arg) break
    if (arg.text === '--' || arg.text === '-') {
      if (arg.text === '--' || at + 1 < args.length) state.setArguments([args.slice(at + 1)], conditional)
      return
    }
    if (arg.unknown && arg.text.startsWith(UNKNOWN)) {
      state.setArguments([[ANYTHING]], true)
      return
    }
    if (!/^[-+]./.test(arg.text)) {
      state.setArguments([args.slice(at)], conditional)
      return
    }
    if (/^[-+]\w*o$/.test(arg.text)) at++
  }
}

function trap(starting: Starting): void {
  const { args, scope, walker } = starting
  const [text, ...signals] = args.filter((arg) => !isOption(arg.text))
  if (!text) return
  if (text.unknown) starting.opaque('gives a shell a text that is not known')
  const atEnd = signals.every((signal) => /^(SIG)?(EXIT|0)$/i.test(signal.text))
  walker.trap({ text: knownText(text.text), scope, atEnd })
}
