/** Commands that only look. They are allowed at every tier, unless a rule forbids them. */
import type { Field, SimpleCommand } from './command.ts'
import { givenOptions, optionList } from './given-options.ts'
import { composeLooks, dockerLooks, helmLooks, kubectlLooks } from './looks/containers.ts'
import { gitCall, gitCallLooks } from './looks/git.ts'
import { curlLooks, ipLooks, ncLooks, opensslLooks, sshLooks, ssLooks, wgetLooks } from './looks/network.ts'
import { asksVersion, SYSTEM } from './looks/system.ts'
import { TEXT } from './looks/text.ts'
import { isOption, valueOptions } from './options.ts'
import { sedLooks } from './sed.ts'

type Looks = (args: readonly Field[], command: Started) => boolean
type Started = Pick<SimpleCommand, 'words' | 'program' | 'args'> & { fed?: boolean }

const always: Looks = () => true
/** Only these options, as far as they stand before the first word; what follows is a command of its own. */
const before = (...lists: readonly string[]): Looks => {
  const list = optionList(...lists)
  return (args) => givenOptions(args, list, { leading: true }) !== undefined
}

/** Words that are not options nor values of options that stand before the sub-command. */
export function subCommand(program: string, args: readonly Field[]): string[] {
  const withValue = valueOptions(program, args)
  const words: string[] = []
  for (let at = 0; at < args.length; at++) {
    const text = args[at]?.text ?? ''
    if (withValue.includes(text) && words.length < 2) at++
    else if (!isOption(text)) words.push(text)
  }
  return words
}

const PLAIN =
  'ls cat head tail wc grep egrep fgrep zgrep cut tr paste join comm diff cmp column nl fold fmt expand unexpand rev tac seq echo printf true false : test [ pwd cd pushd popd dirs cal uptime who w whoami id groups uname arch nproc free df du lsblk findmnt ps pgrep pidof pstree last lscpu vmstat iostat mpstat netstat ping ping6 traceroute tracepath host nslookup getent stat readlink realpath basename dirname md5sum sha1sum sha256sum sha512sum cksum b2sum od hexdump strings jq which type whereis printenv locale getconf ulimit wait jobs sleep read exit return break continue shift local declare typeset export readonly unset let getopts trap clear zcat bzcat xzcat numfmt tsort factor expr dig base64 base32 set eval command builtin exec nohup xargs timeout nice stdbuf setsid env sudo doas busybox alias hash umask mapfile readarray watch nsenter toybox'.split(
    ' ',
  )

const SHELL: Looks = (args) =>
  givenOptions(args, SHELL_OPTIONS, { leading: true, trusting: true }) !== undefined
const SHELL_OPTIONS = optionList('-ceuxlsnvfhbpCE -o: --norc --noprofile --login --posix')

const CATALOG = new Map<string, Looks>(
  Object.entries({
    ...Object.fromEntries(PLAIN.map((name) => [name, always])),
    ...TEXT,
    ...SYSTEM,
    time: before('-pv -f: --format= --portability --verbose'),
    strace: traceLooks,
    ltrace: traceLooks,
    script: (args) => {
      const given = givenOptions(args, SCRIPT)
      return given?.operands.length === 1 && given.operands[0]?.text === '/dev/null'
    },
    hostname: (args) =>
      args.every(({ text }) => /^-[fisdAI]+$|^--(fqdn|short|ip-address|all-ip-addresses)$/.test(text)),
    sed: sedLooks,
    awk: always,
    gawk: always,
    mawk: always,
    nawk: always,
    ip: ipLooks,
    ss: ssLooks,
    nc: ncLooks,
    curl: curlLooks,
    wget: wgetLooks,
    ssh: sshLooks,
    less: pagerLooks,
    more: pagerLooks,
    openssl: (args, { fed }) => opensslLooks(args, fed === true),
    docker: (args) => dockerLooks(args),
    podman: (args) => dockerLooks(args, true),
    'docker-compose': composeLooks,
    kubectl: kubectlLooks,
    helm: helmLooks,
    git: gitLooks,
    // With -p they change a process that is there.
    ionice: before('-t -c: -n: --class= --classdata='),
    chrt: before('-bfior -T: -P: -D: --batch --fifo --idle --other --rr'),
    taskset: before('-c --cpu-list'),
    su: suLooks,
    runuser: suLooks,
    // It makes the file that it locks.
    flock: (args) =>
      /^\/(tmp|var\/lock|run\/lock)\/./.test(args.find(({ text }) => !isOption(text))?.text ?? ''),
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
export function onlyLooks(command: Started): boolean {
  const { words, program, args } = command
  const name = words[0]
  if (!name || name.unknown || name.glob) return false
  // Elsewhere it may be anything that bears the name.
  if (program !== name.text && !/^\/(usr\/(local\/)?)?s?bin\/[^/]+$/.test(name.text)) return false
  const looks = CATALOG.get(program)
  if (looks === always) return true
  if (args.length === 1 && (args[0]?.text === '--version' || args[0]?.text === '--help')) return true
  if (asksVersion(program, args)) return true
  if (!looks) return false
  // An option that is not known may be one that writes.
  for (const { unknown, tame } of args) if (unknown === 'many' && !tame) return false
  return looks(args, command)
}

const TRACE = optionList('-fcCdhiqrtTvxyYzZkwn -p: -s: -e: -a: -S: -u: -P: -b: --follow-forks --summary-only')

/** `inject=` and `fault=` change what the program sees. */
function traceLooks(args: readonly Field[]): boolean {
  const given = givenOptions(args, TRACE, { leading: true })
  return !!given?.options.every(
    ({ name, value }) => name !== '-e' || /^(trace=|!?%?[a-z_\d,]+$)/.test(value?.text ?? ''),
  )
}

const SU = optionList(
  '-lmpP -u: -s: -g: -G: --login --command= --user= --shell= --preserve-environment',
  '-c:',
)

/** The shell it starts must be one. */
function suLooks(args: readonly Field[]): boolean {
  const given = givenOptions(args, SU, { leading: args.some(({ text }) => /^(-u|--user)/.test(text)) })
  return !!given?.options.every(
    ({ name, value }) => !/^(-s|--shell)$/.test(name) || /^\/bin\/(ba|da)?sh$/.test(value?.text ?? ''),
  )
}

const PAGER = optionList(
  '-NSRrFXiIsgmMeEqQnw -x: -# --LINE-NUMBERS --chop-long-lines --RAW-CONTROL-CHARS --quit-if-one-screen --no-init --ignore-case',
)

/** `+!x` starts something, and so may keys: a terminal that is made for it could hand on what it is fed. */
function pagerLooks(args: readonly Field[], { fed }: Started): boolean {
  const operands = givenOptions(args, PAGER)?.operands
  return !!operands?.every(({ text, unknown }) => !fed && !text.startsWith('+') && !unknown)
}

const CONFIG_READS = /^(--get.*|--list|-l)$/

function gitLooks(args: readonly Field[]): boolean {
  if (args.some(({ text }) => text === 'config')) {
    const [name, verb = ''] = subCommand('git', args)
    if (name === 'config' && (args.some(({ text }) => CONFIG_READS.test(text)) || /^(get|list)$/.test(verb)))
      return true
  }
  const call = gitCall(args)
  return !!call && gitCallLooks(call)
}
