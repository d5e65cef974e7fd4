/** Builtins of bash that evaluate what they are given, or put it into variables. */
import { type Field, showCommand, UNKNOWN } from '../command.ts'
import { isLive } from '../evaluated.ts'
import type { Look } from '../look.ts'
import { isOption } from '../options.ts'
import { assign, type Scope } from '../scope.ts'
import type { ShellState } from '../shell-state.ts'

const DECLARING = new Set(['declare', 'typeset', 'local', 'export', 'readonly'])
/** `values`: letters of options that take one. */
const READING: Record<string, { values: string; holds: string }> = {
  read: { values: 'adinNptu', holds: 'REPLY' },
  mapfile: { values: 'dnOsuCc', holds: 'MAPFILE' },
  readarray: { values: 'dnOsuCc', holds: 'MAPFILE' },
  getopts: { values: '', holds: 'OPTARG' },
}

const OTHERS = 'let unset test [ printf wait jobs'.split(' ')
export const EVALUATING: ReadonlySet<string> = new Set([...DECLARING, ...Object.keys(READING), ...OTHERS])

/** What it starts, if anything. */
export function evaluating(
  program: string,
  args: readonly Field[],
  scope: Scope,
  walker: Look,
): readonly Field[] {
  const show = () => showCommand({ words: [{ text: program }, ...args] })
  /** Taken for a number or a name. */
  const evaluate = (field: Field | undefined) => {
    if (!field) return
    if (field.unknown && field.tame !== 'number') walker.opaque('evaluates a text that is not known', show())
    if (isLive(field.text)) walker.runs(field.text.replaceAll(UNKNOWN, '0'), scope)
    walker.evaluated.wants(field.text)
  }
  /** The name of a variable that is set to something that cannot be known. */
  const set = (field: Field | undefined) => {
    if (!field) return
    const [name = ''] = /^\w*/.exec(field.text) ?? []
    if (name !== field.text) evaluate(field)
    if (field.unknown) walker.opaque('sets a variable whose name is not known', show())
    assign(scope, name, { texts: [], unknown: true })
    walker.sets(name, {}, show)
    walker.evaluated.holdsAnything(name)
  }
  const after = (option: RegExp) => args.find((_, index) => option.test(args[index - 1]?.text ?? ''))

  if (DECLARING.has(program)) {
    declaring(program, args, scope, walker, evaluate, show)
    return []
  }
  if (Object.hasOwn(READING, program)) {
    const { values = '', holds = '' } = READING[program] ?? {}
    walker.evaluated.holdsAnything(holds)
    if (program !== 'read' && args.some(({ text, unknown }) => unknown === 'many' || /^-\w*C/.test(text)))
      callback(args, scope, walker, show)
    const { array, names } = readInto(args, values)
    set(array)
    for (const name of program === 'getopts' ? names.slice(1, 2) : names) set(name)
    return []
  }
  switch (program) {
    case 'let':
      for (const arg of args) evaluate(arg)
      return []
    case 'unset':
      for (const arg of args) {
        if (!isOption(arg.text) && !/^\w+$/.test(arg.text)) evaluate(arg)
        // What was known of it is no longer so.
        if (/^\w+$/.test(arg.text)) assign(scope, arg.text, { texts: [''], unknown: true })
        // `a[0]`, which may also be a pattern of files.
        const [, array] = /^(\w+)\W/.exec(arg.text) ?? []
        if (array) assign(scope, array, { texts: [], unknown: true })
        if (arg.unknown) walker.opaque('takes a variable away whose name is not known', show())
        scope.state.undefine(arg.text)
      }
      return []
    case 'test':
    case '[':
      for (const [index, arg] of args.entries()) {
        const before = args[index - 1]
        if (
          /^-[vR]$/.test(before?.text ?? '') ? !/^\w+$/.test(arg.text) : before?.unknown && isLive(arg.text)
        )
          evaluate(arg)
      }
      return []
    case 'printf': {
      const [first, second] = args
      if (first?.text === '-v') set(second)
      else if (first && /^-v./.test(first.text)) set({ ...first, text: first.text.slice(2) })
      else if (first?.unknown && second && isLive(second.text)) evaluate(second)
      return []
    }
    case 'wait':
      set(after(/^-\w*p$/))
      for (const arg of args) {
        if (/^-\w*p./.test(arg.text)) set({ ...arg, text: arg.text.replace(/^-\w*?p/, '') })
        else if (isLive(arg.text)) evaluate(arg)
      }
      return []
    case 'jobs': {
      const at = args.findIndex(({ text, unknown }) => unknown || /^-\w*x/.test(text))
      return at === -1 ? [] : args.slice(at + 1)
    }
    default:
      return []
  }
}

/** Where it puts what it reads: `-a array`, and the names behind the options. The first letter that takes a value takes the rest. */
function readInto(
  args: readonly Field[],
  values: string,
): { array: Field | undefined; names: readonly Field[] } {
  let array: Field | undefined
  let at = 0
  for (; isOption(args[at]?.text ?? ''); at++) {
    const arg = args[at]
    if (!arg || arg.text === '--') return { array, names: args.slice(at + 1) }
    const taking = [...arg.text].findIndex((letter, index) => index > 0 && values.includes(letter))
    if (taking === -1) continue
    const attached = arg.text.slice(taking + 1)
    if (arg.text[taking] === 'a') array = attached ? { ...arg, text: attached } : args[at + 1]
    if (!attached) at++
  }
  return { array, names: args.slice(at) }
}

/** `mapfile -C 'command' -c 1`: runs it for each line. */
function callback(args: readonly Field[], scope: Scope, walker: Look, show: () => string): void {
  walker.opaque('runs something for each line it reads', show())
  for (const [index, { text }] of args.entries()) {
    const [, inline] = /^-\w*?C(.*)$/s.exec(text) ?? []
    if (inline !== undefined)
      walker.text(inline || (args[index + 1]?.text ?? ''), {
        ...scope,
        times: Number.POSITIVE_INFINITY,
        depth: scope.depth + 1,
      })
  }
}

function declaring(
  program: string,
  args: readonly Field[],
  scope: Scope,
  walker: Look,
  evaluate: (field: Field) => void,
  show: () => string,
): void {
  const options = args.filter(({ text }) => /^[-+]\w/.test(text)).map(({ text }) => text)
  const integer = options.some((text) => /^-\w*i/.test(text))
  const has = (letter: string) => options.some((text) => text.startsWith('-') && text.includes(letter))
  // From now on, nobody knows what is assigned to what.
  if (has('n') && program !== 'export') walker.giveUp('it gives a variable another name')
  if (/^(declare|typeset|local)$/.test(program) && ['l', 'u', 'c'].some(has))
    walker.giveUp('it changes what is assigned to a variable')
  const here = declaresCertainly(program, options, scope.state) ? scope : { ...scope, conditional: true }
  const isLocal = scope.state.isInFunction && /^(local|declare|typeset)$/.test(program) && !has('g')
  for (const arg of args) {
    if (/^[-+]\w/.test(arg.text)) continue
    const [, name = '', index = '', value] = /^(\w*)((?:\[.*\])?)\+?(?:=(.*))?$/s.exec(arg.text) ?? []
    const nameKnown = name !== '' && !name.includes(UNKNOWN) && /^\w+(\[|\+?=|$)/.test(arg.text)
    if (!nameKnown) {
      if (arg.unknown) walker.opaque('sets a variable whose name is not known', show())
      evaluate({ ...arg, text: arg.text.split('=', 1)[0] ?? '' })
      continue
    }
    if (index) evaluate({ text: index })
    if (integer) walker.evaluated.wants(name)
    const given = program !== 'local'
    const known = value === undefined || arg.unknown ? undefined : value
    if (value !== undefined || (given && isGiven(program, options)))
      walker.sets(name, { value: known, given }, show)
    if (isLocal) scope.state.declareLocal(name)
    if (has('g') && scope.state.isInFunction) scope.state.changeOutside(name)
    if (program === 'readonly' || has('r')) scope.state.makeConstant(name)
    if (program === 'export' && has('n')) scope.state.unexport(name)
    else if (isGiven(program, options)) scope.state.export(name, !scope.conditional)
    if (value === undefined) {
      // A variable of a function begins empty.
      if (isLocal) assign(here, name, { texts: [''], unknown: false })
      continue
    }
    if (arg.unknown && arg.tame !== 'number') walker.evaluated.holdsAnything(name)
    else walker.evaluated.holds(name, value)
    // An unquoted assignment was noted already, with all that it may hold.
    const noted = scope.state.variables.get(name)
    if (known === undefined || !(noted?.texts.includes(known) || noted?.lists))
      assign({ ...here, conditional: here.conditional || noted !== undefined }, name, {
        texts: known === undefined ? [] : [known],
        unknown: known === undefined,
      })
  }
}

/**
 * Whether a declaration certainly gives its variables to what follows. It does not where it fails, only shows something,
 * means variables outside of the function, or is another command of this name.
 */
export function declaresCertainly(program: string, options: readonly string[], state: ShellState): boolean {
  if (state.isRedefined(program) || (program === 'local' && !state.isInFunction)) return false
  const known = state.isInFunction ? /^[-+][aAirtx]+$/ : /^[-+][aAgirtx]+$/
  return options.every((text) => known.test(text))
}

/** Whether the declaration hands the variable to programs. */
function isGiven(program: string, options: readonly string[]): boolean {
  return program === 'export' || options.some((text) => /^-\w*x/.test(text))
}
