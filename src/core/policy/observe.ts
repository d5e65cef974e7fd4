/** Commands that only look. They are allowed at every tier, unless a rule forbids them. */
import { baseName, type Field, type SimpleCommand } from './command.ts'
import { givenOptions, optionList } from './given-options.ts'
import { composeLooks, dockerLooks, helmLooks, kubectlLooks } from './looks/containers.ts'
import { gitCall, gitCallLooks } from './looks/git.ts'
import { curlLooks, ipLooks, ncLooks, opensslLooks, sshLooks, ssLooks, wgetLooks } from './looks/network.ts'
import { SYSTEM } from './looks/system.ts'
import { TEXT } from './looks/text.ts'
import { isOption, textsOf, valueOptions } from './options.ts'
import { sedLooks } from './sed.ts'

type Looks = (args: readonly string[], fields: readonly Field[], command: Started) => boolean
type Started = Pick<SimpleCommand, 'words' | 'fed'>

const always: Looks = () => true
/** Only these options, as far as they stand before the first word; what follows is a command of its own. */
const before = (...lists: readonly string[]): Looks => {
  const list = optionList(...lists)
  return (_, fields) => givenOptions(fields, list, { leading: true }) !== undefined
}
const byFields = (all: Record<string, (fields: readonly Field[]) => boolean>): Record<string, Looks> =>
  Object.fromEntries(
    Object.entries(all).map(([name, looks]) => [name, (_, fields) => looks(fields)] as [string, Looks]),
  )

/** Words that are not options nor values of options that stand before the sub-command. */
export function subCommand(program: string, args: readonly string[]): string[] {
  const withValue = valueOptions(program, args)
  const words: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (withValue.includes(arg) && words.length < 2) at++
    else if (!isOption(arg)) words.push(arg)
  }
  return words
}

const PLAIN =
  'ls cat head tail wc grep egrep fgrep zgrep cut tr paste join comm diff cmp column nl fold fmt expand unexpand rev tac seq echo printf true false : test [ pwd cd pushd popd dirs cal uptime who w whoami id groups uname arch nproc free df du lsblk findmnt ps pgrep pidof vmstat iostat mpstat netstat ping ping6 traceroute tracepath host nslookup getent stat readlink realpath basename dirname md5sum sha1sum sha256sum sha512sum cksum b2sum od hexdump strings jq which type whereis printenv locale getconf ulimit wait jobs sleep read exit return break continue shift local declare typeset export readonly unset let getopts trap clear zcat bzcat xzcat numfmt tsort factor expr dig base64 base32 set eval command builtin exec nohup xargs timeout nice stdbuf setsid env sudo doas busybox alias hash umask mapfile readarray'.split(
    ' ',
  )

const SHELL: Looks = (_, fields) =>
  givenOptions(fields, SHELL_OPTIONS, { leading: true, trusting: true }) !== undefined
const SHELL_OPTIONS = optionList('-ceuxlsnvfhbpCE -o: -O: --norc --noprofile --login --posix')

const CATALOG = new Map<string, Looks>(
  Object.entries({
    ...Object.fromEntries(PLAIN.map((name) => [name, always])),
    ...byFields(TEXT),
    ...byFields(SYSTEM),
    time: before('-pv -f: --format= --portability --verbose'),
    strace: traceLooks,
    ltrace: traceLooks,
    script: (_, fields) => {
      const given = givenOptions(fields, SCRIPT)
      return given?.operands.length === 1 && given.operands[0]?.text === '/dev/null'
    },
    hostname: (args) =>
      args.every((arg) => /^-[fisdAI]+$|^--(fqdn|short|ip-address|all-ip-addresses)$/.test(arg)),
    sed: sedLooks,
    awk: always,
    gawk: always,
    mawk: always,
    nawk: always,
    ip: (_, fields) => ipLooks(fields),
    ss: (_, fields) => ssLooks(fields),
    nc: (_, fields) => ncLooks(fields),
    curl: (_, fields) => curlLooks(fields),
    wget: (_, fields) => wgetLooks(fields),
    ssh: (_, fields) => sshLooks(fields),
    openssl: (_, fields, { fed }) => opensslLooks(fields, fed === true),
    docker: (_, fields) => dockerLooks(fields),
    podman: (_, fields) => dockerLooks(fields, true),
    'docker-compose': (_, fields) => composeLooks(fields),
    kubectl: (_, fields) => kubectlLooks(fields),
    helm: (_, fields) => helmLooks(fields),
    git: gitLooks,
    // With -p they change a process that is there.
    ionice: before('-t -c: -n: --class= --classdata='),
    chrt: before('-bfior -T: -P: -D: --batch --fifo --idle --other --rr'),
    taskset: before('-c --cpu-list'),
    su: suLooks,
    runuser: suLooks,
    // It makes the file that it locks.
    flock: (args) => /^\/(tmp|var\/lock|run\/lock)\/./.test(args.find((arg) => !isOption(arg)) ?? ''),
    sh: SHELL,
    bash: SHELL,
    dash: SHELL,
    zsh: SHELL,
    ksh: SHELL,
    ash: SHELL,
  }),
)

const SCRIPT = optionList('-qefa -c: --quiet --return --flush --command=')

/** Wrappers, shells and `eval` count as looking: what they start is a command of its own. */
const WRAPPING = new Set(['watch', 'nsenter', 'toybox'])

export function onlyLooks(command: Started): boolean {
  const { words } = command
  const name = words[0]
  if (!name || name.unknown || name.glob) return false
  // Elsewhere it may be anything that bears the name.
  if (name.text.includes('/') && !/^\/(usr\/(local\/)?)?s?bin\/[^/]+$/.test(name.text)) return false
  const program = baseName(name.text)
  const looks = CATALOG.get(program)
  if (looks === always || WRAPPING.has(program)) return true
  if (words.length === 2 && (words[1]?.text === '--version' || words[1]?.text === '--help')) return true
  if (!looks) return false
  const fields = words.slice(1)
  // An option that is not known may be one that writes.
  if (fields.some(({ unknown, tame }) => unknown === 'many' && !tame)) return false
  return looks(textsOf(fields), fields, command)
}

const TRACE = optionList('-fcCdhiqrtTvxyYzZkwn -p: -s: -e: -a: -S: -u: -P: -b: --follow-forks --summary-only')

/** `inject=` and `fault=` change what the program sees. */
function traceLooks(_: readonly string[], fields: readonly Field[]): boolean {
  const given = givenOptions(fields, TRACE, { leading: true })
  return !!given?.options.every(
    ({ name, value }) => name !== '-e' || /^(trace=|!?%?[a-z_\d,]+$)/.test(value?.text ?? ''),
  )
}

const SU = optionList(
  '-lmpP -u: -s: -g: -G: --login --command= --user= --shell= --preserve-environment',
  '-c:',
)

/** The shell it starts must be one. */
function suLooks(_: readonly string[], fields: readonly Field[]): boolean {
  const given = givenOptions(fields, SU, { leading: fields.some(({ text }) => /^(-u|--user)/.test(text)) })
  return !!given?.options.every(
    ({ name, value }) => !/^(-s|--shell)$/.test(name) || /^\/bin\/(ba|da)?sh$/.test(value?.text ?? ''),
  )
}

function gitLooks(args: readonly string[], fields: readonly Field[]): boolean {
  const [name = '', ...rest] = subCommand('git', args)
  const options = args.filter(isOption)
  switch (name) {
    case 'config':
      return (
        options.some((option) => /^(--get.*|--list|-l)$/.test(option)) || /^(get|list)$/.test(rest[0] ?? '')
      )
    default: {
      const call = gitCall(fields)
      return !!call && gitCallLooks(call)
    }
  }
}
