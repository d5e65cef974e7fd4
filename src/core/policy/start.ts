/** One command with its words known: takes off what only wraps another command, until the program itself is left. */
import { AWKS, awkActs } from './awk.ts'
import { evaluating } from './builtins.ts'
import { baseName, type Field, literal, showCommand, UNKNOWN } from './command.ts'
import { changeDirectories } from './directory.ts'
import { holdsArguments } from './evaluated.ts'
import { findCommands } from './find-commands.ts'
import { isHarmlessSetting } from './git-config.ts'
import type { Look, Started } from './look.ts'
import { onlyLooks } from './observe.ts'
import { isOption, textsOf } from './options.ts'
import { innerScope, joinCwds, type Scope } from './scope.ts'
import { ANYTHING } from './shell-state.ts'
import { steers } from './steering.ts'
import { INTERPRETERS, SHELLS, STARTERS, WRAPPERS, type Wrapper } from './wrappers.ts'
import { xargsCommands } from './xargs.ts'

const DEEPEST = 24

export function start(command: Started, scope: Scope, walker: Look, depth = 0): void {
  const name = command.words[0]
  if (!name) {
    walker.add({ ...command, words: [literal(':')] }, scope)
    return
  }
  const args = command.words.slice(1)
  // Behind a wrapper: some take it as a variable, the others would not find such a program.
  if (depth > 0 && args.length > 0 && /^[A-Za-z_]\w*\+?=/.test(name.text)) {
    start({ ...command, words: args, assigned: [...command.assigned, name.text] }, scope, walker, depth + 1)
    return
  }
  const show = () => showCommand(command)
  if (depth > DEEPEST) {
    walker.giveUp('it is nested too deeply')
    return
  }
  for (const assignment of command.assigned) {
    const [, variable = '', value = ''] = /^(\w*)[^=]*=(.*)$/s.exec(assignment) ?? []
    walker.evaluated.holds(variable, value)
    if (steers(variable, { value, given: true }))
      walker.opaque(`sets ${variable}, which changes what is started`, `${assignment} ${show()}`)
  }
  if (name.unknown || name.glob) {
    walker.opaque('has a name that only the running shell knows', show())
    walker.add(command, scope)
    return
  }
  if (depth === 0 && mayBeFunction(command, scope, walker)) return
  const program = baseName(name.text)
  const here = REPEATERS.has(program) ? { ...scope, times: Number.POSITIVE_INFINITY } : scope
  const next = (words: readonly Field[], change: Partial<Started> = {}, at = here) =>
    start({ ...command, assigned: [], ...change, words }, at, walker, depth + 1)
  const done = () => walker.add(command, scope)
  const cleared = command.cleared || !(SHELLS.has(program) || KEEPS_VARIABLES.has(program))
  const nested = (text: Field | undefined, positional: readonly Field[] | undefined) => {
    if (!text) return
    holdsArguments(walker.evaluated, positional)
    if (text.unknown) walker.opaque('gives a shell a text that is not known', show())
    walker.text(
      known(text.text),
      freshScope(here, { ...command, cleared }, positional, {
        redirects: [...scope.redirects, ...command.redirects],
      }),
    )
  }

  switch (program) {
    case 'cd':
    case 'pushd':
      changeDirectories(args, command.assigned, scope, (target, at) => walker.changeDirectory(target, at))
      done()
      return
    case 'popd':
      walker.changeDirectory(literal('-'), scope)
      done()
      return
    case 'set':
      setArguments(args, scope)
      holdsArguments(walker.evaluated, args)
      if (args.some(({ text, unknown }) => unknown === 'many' || /^-\w*a|^allexport$/.test(text)))
        walker.opaque('may hand all variables to what is started', show())
      done()
      return
    case 'shift': {
      const [count = literal('1')] = args
      const number = /^\d{1,4}$/.test(count.text) ? Number(count.text) : undefined
      scope.state.shift(number, scope.conditional)
      done()
      return
    }
    case 'return':
      walker.leave()
      done()
      return
    case 'shopt':
      if (args.some(({ text, unknown }) => unknown || !HARMLESS_SETTINGS.test(text)))
        walker.giveUp('it changes how the shell reads what follows')
      done()
      return
    case 'eval': {
      const text = args.map((arg) => arg.text).join(' ')
      if (args.some(({ unknown }) => unknown)) walker.opaque('evaluates a text that is not known', show())
      const inside: Scope = { ...scope, depth: scope.depth + 1 }
      scope.state.withAssigned(command.assigned, () => walker.text(known(text), inside))
      scope.cwds = inside.cwds
      done()
      return
    }
    case 'trap':
      trap(args, scope, walker, show)
      done()
      return
    case 'alias':
      for (const { text, unknown } of args) {
        const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
        if (key === undefined || value === undefined) continue
        if (unknown) walker.opaque('defines an alias that is not known', show())
        scope.state.aliases.set(key, value)
        walker.text(value, innerScope(scope))
      }
      done()
      return
    case 'hash':
      if (args.some(({ text, unknown }) => unknown || /^-\w*p/.test(text)))
        walker.opaque('gives a program another name', show())
      done()
      return
    case 'xargs':
      xargsCommands(
        args,
        scope,
        (words, inside) => next(words, {}, inside),
        (why) => walker.opaque(why, show()),
      )
      done()
      return
    case 'find':
    case 'fd':
    case 'fdfind':
      findCommands(program, args, (words) => next(words, { redirects: [] }))
      done()
      return
    case 'git':
      git(command, args, scope, walker, next)
      return
    case 'ansible':
      ansible(args, nested)
      walker.opaque('starts what its module says', show())
      done()
      return
  }
  if (program === 'exec' && args.every(({ text }) => isOption(text))) scope.shell.input = scope.input
  const inner = evaluating(program, args, scope, walker)
  if (inner) {
    if (inner.length > 0) next(inner)
    done()
    return
  }
  if (SHELLS.has(program)) {
    shell(command, args, scope, walker, nested)
    return
  }
  if (interprets(program, args, scope)) {
    walker.opaque(`runs a program text (${program})`, withInput(show(), scope))
    done()
    return
  }
  // `runuser -` is `su -`, unless it is told of the user by an option.
  const asSu = program === 'runuser' && !args.some(({ text }) => /^(-\w*u|--user)/.test(text))
  const wrapper = WRAPPERS[asSu ? 'su' : program]?.find(({ after }) => !after || endOf(after, args) !== -1)
  if (wrapper && !(program === 'command' && args.some(({ text }) => /^-[vV]+$/.test(text)))) {
    unwrap(wrapper, command, args, scope, walker, next, nested)
    return
  }
  if (STARTERS.has(program) && !onlyLooks(command)) {
    walker.opaque(`starts what is written elsewhere (${program})`, withInput(show(), scope))
    if (AGAIN_AND_AGAIN.test(program)) {
      walker.add(command, { ...scope, times: Number.POSITIVE_INFINITY })
      return
    }
  } else if (name.text.includes('/') && !/^\/(usr\/(local\/)?)?s?bin\//.test(name.text)) {
    walker.opaque('is started by its path and may be anything', show())
  }
  done()
}

/** A function or an alias of this text. Says whether it is certainly nothing else. */
function mayBeFunction(command: Started, scope: Scope, walker: Look): boolean {
  const { words, assigned, redirects } = command
  const [name = literal(''), ...args] = words
  const { state } = scope
  if (state.functions.has(name.text)) {
    // What is written to is written to by the whole function.
    const inside = redirects.length > 0 ? { ...scope, redirects: [...scope.redirects, ...redirects] } : scope
    let certain = false
    state.withAssigned(assigned, () => {
      certain = walker.call(name.text, args, inside)
    })
    scope.cwds = inside.cwds
    if (certain) return true
  }
  const alias = state.aliases.get(name.text)
  if (alias !== undefined) {
    // Whether aliases are used depends on the shell.
    const inner = innerScope(scope)
    inner.state.aliases.delete(name.text)
    walker.text(`${alias} ${args.map(quote).join(' ')}`, inner)
    state.join(inner.state)
    scope.cwds = joinCwds(scope.cwds, inner.cwds)
  }
  return false
}

/** For another shell: of what this one holds, it is given what is exported. */
function freshScope(
  scope: Scope,
  { assigned, cleared = false }: Started,
  positional: readonly Field[] | undefined,
  change: Partial<Scope>,
): Scope {
  const state = scope.state.fresh(assigned, cleared)
  state.setArguments([positional ?? [ANYTHING]], false)
  return innerScope(scope, { ...change, state, conditional: false })
}

const HARMLESS_SETTINGS =
  /^(-[suqpo]+|nullglob|failglob|dotglob|globstar|extglob|nocaseglob|inherit_errexit|expand_aliases|checkwinsize|huponexit|histappend|cmdhist)$/

/** `set -- a b`, `set a b`. */
function setArguments(args: readonly Field[], scope: Scope): void {
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

/** What runs at the end changes nothing before; what may run at any time must not change what we know. */
function trap(args: readonly Field[], scope: Scope, walker: Look, show: () => string): void {
  const [text, ...signals] = args.filter((arg) => !isOption(arg.text))
  if (!text) return
  if (text.unknown) walker.opaque('gives a shell a text that is not known', show())
  const once = signals.every((signal) => /^(SIG)?(EXIT|0)$/i.test(signal.text))
  const inside = innerScope(scope, once ? {} : { times: Number.POSITIVE_INFINITY })
  const { fingerprint } = inside.state
  walker.text(known(text.text), inside)
  if (once) return
  if (inside.state.fingerprint !== fingerprint || inside.cwds.some((cwd) => !scope.cwds.includes(cwd)))
    walker.giveUp('a trap changes what the rest means')
}

/** Programs that may start what they are given more than once. */
const REPEATERS = new Set(['watch', 'find', 'fd', 'fdfind'])

const AGAIN_AND_AGAIN = /^(parallel|rush|entr|inotifywait|fswatch|nodemon|forever|pm2|crontab|pssh|pdsh|dsh)$/

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

/** What is not known becomes a variable that is not known. */
const known = (text: string) => text.replaceAll(UNKNOWN, '$__unknown__')

const quote = ({ text, unknown }: Field) =>
  unknown ? '"$__unknown__"' : `'${text.replaceAll("'", "'\\''")}'`

function withInput(text: string, { input }: Scope): string {
  return input.kind === 'text' ? `${text}\n${input.text}` : text
}

/** Shells that read a text as we do. */
const READ_ALIKE = /^(sh|bash|dash|ash|rbash)$/

/** The text of `sh -c`, of its stdin, or a script that cannot be seen. */
function shell(
  command: Started,
  args: readonly Field[],
  scope: Scope,
  walker: Look,
  nested: (text: Field | undefined, positional: readonly Field[] | undefined) => void,
): void {
  walker.add(command, scope)
  if (!READ_ALIKE.test(baseName(command.words[0]?.text ?? '')))
    walker.opaque('is read by another shell, which may see more in it', showCommand(command))
  let at = 0
  let wantsText = false
  for (; at < args.length; at++) {
    const arg = args[at]
    if (!arg || arg.unknown === 'many') {
      walker.opaque('gives a shell arguments that are not known', showCommand(command))
      return
    }
    const { text } = arg
    if (text === '--' || text === '-') {
      at++
      break
    }
    if (!/^[-+]./.test(text)) break
    // `-oc errexit text`: shells differ in where the value is.
    if (/^[-+][a-zA-Z]*[oO][a-zA-Z]/.test(text))
      walker.opaque('gives a shell arguments that are not known', showCommand(command))
    if (/^-[a-zA-Z]*c/.test(text) && !text.startsWith('--')) wantsText = true
    else if (text === '--command') wantsText = true
    if (/^--(rcfile|init-file)$/.test(text) || /^[-+][a-zA-Z]*[oO]$/.test(text)) at++
  }
  const first = args[at]
  // Of `sh -c text _`, the word behind the text is `$0`.
  const others = args.slice(wantsText ? at + 1 : at)
  holdsArguments(walker.evaluated, others[0]?.text === '_' ? others.slice(1) : others)
  if (wantsText) {
    nested(first, args.slice(at + 2))
    return
  }
  const readsInput = args.some(({ text }) => /^-[a-z]*s[a-z]*$/.test(text))
  if (first && !readsInput && first.text !== '/dev/stdin') {
    walker.opaque('runs a script that cannot be seen', showCommand(command))
    return
  }
  const { input } = scope
  if (input.kind === 'text')
    walker.text(input.text, freshScope(scope, command, args.slice(at), { input: { kind: 'none' } }))
  else if (input.kind === 'unknown')
    walker.opaque('feeds a shell with something that cannot be seen', showCommand(command))
}

const SED_ACTS = /(?:^|[;{}\n\d$/])\s*[wWe](?:\s+\S|$)|\/[gpiImM\d]*[we][gpiImM\d]*(?:\s|;|$)/

function interprets(program: string, args: readonly Field[], scope: Scope): boolean {
  if (AWKS.has(program)) return awkActs(args)
  // `w` writes, `e` runs something.
  if (program === 'sed') return args.some(({ text }) => SED_ACTS.test(text))
  // `python3.12`
  const plain = program.replace(/[\d.]+$/, '')
  if (!Object.hasOwn(INTERPRETERS, plain)) return false
  // `--version` alone does nothing; anything else runs a text, a file or its stdin.
  return args.length > 0
    ? !args.every(({ text }) => /^(--version|-V|--help)$/.test(text))
    : scope.input.kind !== 'none'
}

type Next = (words: readonly Field[], change?: Partial<Started>, at?: Scope) => void

/** Aliases and settings given on the command line are commands too. */
function git(command: Started, args: readonly Field[], scope: Scope, walker: Look, next: Next): void {
  walker.add(command, scope)
  const show = showCommand(command)
  const aliases = new Map<string, string>()
  let at = 0
  for (; at < args.length && isOption(args[at]?.text ?? ''); at++) {
    const text = args[at]?.text ?? ''
    if (/^--(exec-path=|config-env)/.test(text)) walker.opaque('changes what git starts', show)
    if (!/^(-C|-c|--git-dir|--work-tree|--namespace|--config-env|--super-prefix)$/.test(text)) continue
    const value = args[++at]
    if (text !== '-c' || !value) continue
    const [, key = '', setting = ''] = /^([^=]+)=?(.*)$/s.exec(value.text) ?? []
    if (/^alias\./i.test(key)) aliases.set(key.slice(6).toLowerCase(), setting)
    else if (value.unknown || !isHarmlessSetting(key, setting))
      walker.opaque(`sets ${key} of git, which may start a program`, show)
  }
  const [sub, ...rest] = args.slice(at)
  if (!sub) return
  const alias = aliases.get(sub.text.toLowerCase())
  if (alias !== undefined) aliasCommand(alias, rest, scope, walker, next)
  if (sub.text === 'config') {
    const words = rest.filter(({ text }) => !isOption(text))
    const [key, value] = words[0]?.text === 'set' ? words.slice(1) : words
    if (key && value && /^alias\./i.test(key.text)) aliasCommand(value.text, [], scope, walker, next)
    if (key && value && /^\+|^!/.test(value.text)) walker.opaque('changes what git does later', show)
  }
  if (sub.unknown || (!KNOWN_GIT.has(sub.text) && alias === undefined))
    walker.opaque('may be an alias of git', show)
  if (sub.text === 'send-pack') next([literal('git'), literal('push'), ...rest])
  const runs = textsOf(rest)
  const foreach = runs.indexOf('foreach')
  if (sub.text === 'submodule' && foreach !== -1) {
    walker.text(
      runs
        .slice(foreach + 1)
        .filter((text) => !/^--(recursive|quiet)$/.test(text))
        .join(' '),
      innerScope(scope),
    )
  } else if (sub.text === 'bisect' && runs[0] === 'run') next(rest.slice(1))
  else if (
    sub.text === 'rebase' ||
    sub.text === 'difftool' ||
    sub.text === 'filter-branch' ||
    sub.text === 'mergetool'
  ) {
    for (const [index, text] of runs.entries()) {
      const [, value] = /^(?:--ex[a-z]*|-x|--[a-z-]+-filter)=?(.*)$/s.exec(text) ?? []
      if (value !== undefined) walker.text(value || (runs[index + 1] ?? ''), innerScope(scope))
    }
  } else if (
    runs.some((text) => /^(ext|fd)::/.test(text)) ||
    runs.some((text) => TELLS_GIT.some((option) => isAbbreviation(text, option))) ||
    (sub.text === 'grep' && runs.some((text) => /^-[a-zA-Z]*O/.test(text))) ||
    (sub.text === 'clone' && runs.some((text) => /^-[a-zA-Z]*[uc]/.test(text)))
  ) {
    walker.opaque('tells git what to start', show)
  }
}

/** Their values are started, or settings that may be. */
const TELLS_GIT = [
  '--upload-pack',
  '--receive-pack',
  '--exec',
  '--open-files-in-pager',
  '--ext-diff',
  '--extcmd',
  '--tool',
  '--smtp-server',
  '--sendmail-cmd',
  '--to-cmd',
  '--cc-cmd',
  '--config',
  '--template',
]

/** git takes any beginning of an option that is not also that of another one. */
function isAbbreviation(text: string, option: string): boolean {
  const [name = ''] = text.split('=', 1)
  return name.length > 2 && option.startsWith(name)
}

const KNOWN_GIT = new Set(
  'add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean clone commit config count-objects describe diff diff-files diff-index diff-tree difftool fetch filter-branch for-each-ref format-patch fsck gc grep help init log ls-files ls-remote ls-tree merge merge-base mergetool mv name-rev notes pull push range-diff rebase reflog remote repack replace reset restore rev-list rev-parse revert rm send-pack shortlog show show-ref sparse-checkout stash status submodule switch symbolic-ref tag update-index update-ref var version whatchanged worktree write-tree lfs maintenance prune hash-object'.split(
    ' ',
  ),
)

function aliasCommand(alias: string, rest: readonly Field[], scope: Scope, walker: Look, next: Next): void {
  if (alias.startsWith('!')) {
    walker.text(`${alias.slice(1)} ${rest.map(quote).join(' ')}`, innerScope(scope))
    return
  }
  next([literal('git'), ...alias.split(/\s+/).filter(Boolean).map(literal), ...rest])
}

function ansible(
  args: readonly Field[],
  nested: (text: Field | undefined, positional: readonly Field[] | undefined) => void,
): void {
  const at = args.findIndex(({ text }) => /^(-a|--args)$/.test(text))
  const inline = args.find(({ text }) => /^(-a.|--args=)/.test(text))
  if (at !== -1) nested(args[at + 1], [])
  else if (inline) nested({ ...inline, text: inline.text.replace(/^(-a|--args=)/, '') }, [])
}

function unwrap(
  wrapper: Wrapper,
  command: Started,
  args: readonly Field[],
  scope: Scope,
  walker: Look,
  next: Next,
  nested: (text: Field | undefined, positional: readonly Field[] | undefined) => void,
): void {
  walker.add(command, scope)
  const values = new Set(wrapper.values?.split(' '))
  const flags = wrapper.flags === undefined ? undefined : new Set(wrapper.flags.split(' '))
  const assigned: string[] = []
  let skip = wrapper.skip ?? 0
  let at = 0
  let doubtful = false
  const inside = { ...scope }
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
      walker.opaque('starts something that is not known', showCommand(command))
      break
    }
    if (isOption(text)) {
      const shellText = wrapper.text?.find(
        (option) =>
          text === option ||
          text.startsWith(`${option}=`) ||
          (option.length === 2 && new RegExp(`^-[a-zA-Z]*${option[1]}`).test(text) && !text.startsWith('--')),
      )
      if (shellText) {
        const inline = text.startsWith(`${shellText}=`)
          ? text.slice(shellText.length + 1)
          : text.startsWith(shellText)
            ? text.slice(2)
            : ''
        if (inline) nested({ ...arg, text: inline }, [])
        else nested(args[++at], [])
        // `env -S 'docker system' prune`: further words follow the text.
        if (shellText === '-S' || shellText === '--split-string') {
          const split = (inline || (args[at]?.text ?? '')).split(/\s+/).filter(Boolean).map(literal)
          next([...split, ...args.slice(at + 1)])
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
      const [, place] = /^--(?:chdir|working-directory)=(.*)$/s.exec(text) ?? []
      if (place !== undefined) walker.changeDirectory({ ...arg, text: place }, inside)
      else if (/^(-C|-D|--chdir|--working-directory)$/.test(text) && values.has(text)) {
        walker.changeDirectory(args[at + 1], inside)
      }
      if (values.has(text) || endsWithValueOption(text, values)) at++
      else if (flags ? !isFlag(text, flags, values) : !isKnownFlag(text)) {
        doubtful = true
        if (flags) walker.opaque('is given an option that is not known', showCommand(command))
      }
      continue
    }
    if (text === '-' && wrapper.flags?.includes('-i')) continue
    if (!wrapper.shell && /^[A-Za-z_]\w*\+?=/.test(text)) {
      assigned.push(text)
      continue
    }
    if (skip > 0) {
      skip--
      continue
    }
    break
  }
  const rest = args.slice(at)
  // `command cd x` changes where we are, `env -C x ls` only where it runs.
  const wrapped = () => (inside.cwds === scope.cwds ? scope : inside)
  if (rest.length === 0) {
    if (!wrapper.shellByDefault) return
    const { idle } = wrapper
    if (idle && args.some(({ text }) => idle.test(text)) && args.every(({ text }) => idle.test(text))) return
    const { input } = scope
    if (input.kind === 'text')
      walker.text(
        input.text,
        freshScope(scope, { ...command, cleared: true }, [], { input: { kind: 'none' } }),
      )
    else if (!wrapper.text || input.kind === 'unknown')
      walker.opaque('starts a shell that cannot be followed', showCommand(command))
    return
  }
  if (wrapper.shell) {
    nested(
      { text: textsOf(rest).join(' '), ...(rest.some(({ unknown }) => unknown) && { unknown: 'one' }) },
      [],
    )
    return
  }
  const change = {
    assigned,
    ...(!KEEPS_VARIABLES.has(baseName(command.words[0]?.text ?? '')) && { cleared: true as const }),
  }
  next(rest, change, wrapped())
  // The value of an option that is not known here may have been taken for the command.
  if (doubtful)
    for (let from = 1; from < Math.min(rest.length, 6); from++) next(rest.slice(from), change, wrapped())
}

/** What they start has all variables that they have. */
const KEEPS_VARIABLES = new Set(
  'nohup setsid time timeout nice ionice stdbuf watch command builtin exec'.split(' '),
)

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
