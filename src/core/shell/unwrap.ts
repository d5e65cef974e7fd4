/** Programs that start another one which is written in their arguments: `sudo`, `timeout`, `xargs`, `sh -c`, … */
import { givenOptions, type OptionList, optionList } from './option-list.ts'
import { baseName } from './reading.ts'

/** What a program starts besides, or instead of, itself. */
export type Unwrapped =
  | { kind: 'itself' }
  /** It starts another program in its place. */
  | { kind: 'command'; argv: readonly string[]; assignments: readonly string[]; elevated: boolean }
  /** It starts a shell with this text. */
  | { kind: 'text'; text: string }
  /** It stays, and starts others, which get further arguments. */
  | { kind: 'others'; own: readonly string[]; argvs: readonly (readonly string[])[] }
  /** It may start what its arguments do not show. */
  | { kind: 'opaque'; why: string }
  | { kind: 'unclear'; why: string }

interface Wrapper {
  options: OptionList
  /** How many operands stand before the command. */
  operands?: number
  /** Variables may be set before the command. */
  assigns?: boolean
  elevates?: boolean
}

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  [
    'sudo',
    {
      options: optionList(
        '-nEHSbkPA -u: -g: -p: --user= --group= --non-interactive --preserve-env? --set-home --stdin --background',
      ),
      assigns: true,
      elevates: true,
    },
  ],
  ['env', { options: optionList('-i0v -u: --ignore-environment --null --debug --unset='), assigns: true }],
  [
    'timeout',
    {
      options: optionList('-v -k: -s: --kill-after= --signal= --foreground --preserve-status --verbose'),
      operands: 1,
    },
  ],
  ['nice', { options: optionList('-n: -# --adjustment=') }],
  ['ionice', { options: optionList('-t -c: -n: --class= --classdata= --ignore') }],
  ['stdbuf', { options: optionList('-i: -o: -e: --input= --output= --error=') }],
  ['setsid', { options: optionList('-cfw --ctty --fork --wait') }],
  ['nohup', { options: optionList('') }],
  ['time', { options: optionList('-pv --portability --verbose') }],
  ['command', { options: optionList('-p') }],
  ['builtin', { options: optionList('') }],
  ['exec', { options: optionList('-cl -a:') }],
])

const SHELLS = new Set(['sh', 'bash', 'dash', 'ash'])

/** They read shell text from where it cannot be seen, or change what later words mean. */
const EVALUATORS = new Map([
  ['eval', 'puts a text together and runs it'],
  ['source', 'runs the commands of a file'],
  ['.', 'runs the commands of a file'],
  ['trap', 'runs a text later'],
  ['alias', 'gives commands other names'],
  ['let', 'evaluates expressions'],
  ['enable', 'gives commands other meanings'],
  ['bind', 'runs a text later'],
  ['complete', 'runs a text later'],
  ['compgen', 'runs a text'],
  ['fc', 'runs earlier commands'],
  ['hash', 'gives commands other names'],
])

const RUNNERS = new Set(
  `awk gawk mawk nawk sed ed ex vi vim nvim emacs perl python python2 python3 pypy3 ruby node nodejs deno bun php lua
  tclsh expect osascript Rscript zsh ksh fish csh tcsh pwsh su runuser doas pkexec chroot unshare nsenter setpriv
  setarch linux32 linux64 proot fakeroot bwrap firejail systemd-run at batch crontab script screen tmux parallel entr
  watch flock strace ltrace gdb busybox toybox dbus-run-session ssh-agent xvfb-run make gmake just rake npx npm pnpm
  yarn rsync tar zip`.split(/\s+/),
)

/** Options and sub-commands with which git starts what it is told to. */
const GIT_STARTING =
  /^(-c.*|--(config-env|exe).*|-x|bisect|submodule|filter-branch|difftool|mergetool|config|rebase|for-each-repo|daemon|instaweb|send-email)$/

export function unwrap(argv: readonly string[]): Unwrapped {
  const [program = '', ...args] = argv
  const name = baseName(program)
  const wrapper = WRAPPERS.get(name)
  if (wrapper) return unwrapBy(wrapper, name, args)
  if (SHELLS.has(name)) return unwrapShell(args)
  if (name === 'xargs') return unwrapXargs(args)
  if (name === 'find') return unwrapFind(args)
  if (name === 'git' && args.some((arg) => GIT_STARTING.test(arg)))
    return { kind: 'opaque', why: 'lets git start programs' }
  const why = EVALUATORS.get(name)
  if (why !== undefined) return { kind: 'unclear', why }
  if (RUNNERS.has(name) || /^python[\d.]+$/.test(name))
    return { kind: 'opaque', why: `starts ${name}, which may run anything` }
  return { kind: 'itself' }
}

const unknownOption = (name: string): Unwrapped => ({
  kind: 'unclear',
  why: `has an option of ${name} that is not known`,
})

function unwrapBy(
  { options, operands = 0, assigns = false, elevates = false }: Wrapper,
  name: string,
  args: readonly string[],
): Unwrapped {
  // `command -v` only asks where a program is.
  if (name === 'command' && /^-[vV]$/.test(args[0] ?? '')) return { kind: 'itself' }
  const given = givenOptions(args, options, { leading: true })
  if (!given) return unknownOption(name)
  const rest = given.operands.slice(operands)
  const set = assigns ? rest.findIndex((word) => !/^[^=]+=/.test(word)) : 0
  const first = set === -1 ? rest.length : set
  if (first === rest.length && !assigns && name !== 'exec') return { kind: 'itself' }
  if (first === rest.length && name === 'env') return { kind: 'itself' }
  return {
    kind: 'command',
    argv: rest.slice(first),
    assignments: rest.slice(0, first),
    elevated: elevates,
  }
}

const SHELL_OPTIONS = optionList('-ceuxlvfhbCE -o: --norc --noprofile --login --posix --restricted --verbose')

const SHELL_SETTINGS = /^(pipefail|errexit|nounset|xtrace|noglob|noclobber|posix)$/

function unwrapShell(args: readonly string[]): Unwrapped {
  const given = givenOptions(args, SHELL_OPTIONS, { leading: true })
  if (!given) return unknownOption('the shell')
  const [first] = given.operands
  if (given.options.some(({ name, value }) => name === '-o' && !SHELL_SETTINGS.test(value ?? '')))
    return unknownOption('the shell')
  if (first !== undefined && given.options.some(({ name }) => name === '-c'))
    return { kind: 'text', text: first }
  if (first === undefined || first === '-' || first === '/dev/stdin')
    return { kind: 'unclear', why: 'feeds commands to a shell' }
  return { kind: 'opaque', why: `runs the script ${first}` }
}

const XARGS = optionList(
  '-0rtx -n: -I: -L: -P: -d: -s: -E: -a: --null --no-run-if-empty --verbose --max-args= --max-procs= --delimiter= --replace? --arg-file= --max-lines?',
)

function unwrapXargs(args: readonly string[]): Unwrapped {
  const given = givenOptions(args, XARGS, { leading: true })
  if (!given) return unknownOption('xargs')
  const argv = given.operands.length > 0 ? given.operands : ['echo']
  const marks = given.options.flatMap(({ name, value }) =>
    name === '-I' || name === '--replace' ? [value ?? '{}'] : [],
  )
  if (marks.some((mark) => argv[0]?.includes(mark)))
    return { kind: 'unclear', why: 'takes the name of a program from its input' }
  return { kind: 'others', own: ['xargs'], argvs: [argv] }
}

function unwrapFind(args: readonly string[]): Unwrapped {
  const own = ['find']
  const argvs: (readonly string[])[] = []
  for (let at = 0; at < args.length; at++) {
    const text = args[at] ?? ''
    if (!/^-(exec|execdir|ok|okdir)$/.test(text)) {
      own.push(text)
      continue
    }
    const from = at + 1
    while (at < args.length && args[at] !== ';' && !(args[at] === '+' && args[at - 1] === '{}')) at++
    const argv = args.slice(from, at)
    if (at === args.length || argv.length === 0 || argv[0]?.includes('{}'))
      return { kind: 'unclear', why: `has ${text} without a command that is written out` }
    argvs.push(argv)
  }
  return argvs.length > 0 ? { kind: 'others', own, argvs } : { kind: 'itself' }
}
