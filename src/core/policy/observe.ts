/** Commands that only look. They are allowed at every tier, unless a rule forbids them. */
import { baseName, type Field, type SimpleCommand } from './command.ts'
import { isOption, textsOf, valueOptions } from './options.ts'
import { sedLooks } from './sed.ts'

type Looks = (args: readonly string[], fields: readonly Field[]) => boolean

const always: Looks = () => true
/** Unless one of these options is there, or an abbreviation of it. */
const without =
  (...options: readonly string[]): Looks =>
  (args) =>
    !args.some((arg) =>
      options.some((option) =>
        option.startsWith('--')
          ? arg.split('=', 1)[0]?.startsWith(option) ||
            (arg.length > 3 && option.startsWith(arg.split('=', 1)[0] ?? ''))
          : !arg.startsWith('--') && isOption(arg) && arg.includes(option.slice(1)),
      ),
    )
const operandsOf = (args: readonly string[]) => args.filter((arg) => !isOption(arg))
const atMost =
  (count: number): Looks =>
  (args) =>
    operandsOf(args).length <= count
const both =
  (...conditions: readonly Looks[]): Looks =>
  (args, fields) =>
    conditions.every((condition) => condition(args, fields))
/** The sub-command is one of these, written out. */
const sub =
  (program: string, ...names: readonly string[]): Looks =>
  (args) => {
    const words = subCommand(program, args)
    return names.some((name) => name.split(' ').every((word, index) => words[index] === word))
  }

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
  'ls cat head tail wc grep egrep fgrep zgrep ag cut tr paste join comm diff cmp column nl fold fmt expand unexpand rev tac seq echo printf true false : test [ pwd cd pushd popd dirs cal uptime who w whoami id groups uname arch nproc free df du lsblk findmnt ps pgrep pidof vmstat iostat mpstat sar ss netstat lsof ping ping6 traceroute tracepath host nslookup getent stat readlink realpath basename dirname md5sum sha1sum sha256sum sha512sum cksum b2sum od hexdump strings jq which type whereis printenv locale getconf ulimit wait jobs sleep read exit return break continue shift local declare typeset export readonly unset let getopts trap tput clear zcat bzcat xzcat numfmt tsort factor expr dig base64 base32 set eval command builtin exec time nohup xargs timeout nice ionice stdbuf setsid env sudo doas busybox alias hash logger-check umask mapfile readarray'.split(
    ' ',
  )

const GIT =
  'status log diff show blame annotate grep rev-parse ls-files ls-tree ls-remote cat-file describe shortlog name-rev rev-list for-each-ref show-ref merge-base diff-tree diff-files diff-index count-objects var check-ignore check-attr cherry range-diff whatchanged help version'.split(
    ' ',
  )
const DOCKER = 'ps logs inspect stats top version info images port diff events search history'.split(' ')
const DOCKER_MANAGED = [
  'container',
  'image',
  'network',
  'volume',
  'context',
  'node',
  'service',
  'stack',
  'plugin',
  'system',
  'buildx',
].flatMap((kind) =>
  [
    'ls',
    'list',
    'inspect',
    'logs',
    'top',
    'stats',
    'ps',
    'df',
    'info',
    'history',
    'port',
    'diff',
    'show',
    'du',
  ].map((verb) => `${kind} ${verb}`),
)
const COMPOSE = 'ps logs config ls images top version port events stats'
  .split(' ')
  .map((name) => `compose ${name}`)

const CATALOG = new Map<string, Looks>(
  Object.entries({
    ...Object.fromEntries(PLAIN.map((name) => [name, always])),
    sort: without('-o', '--output', '--compress-program'),
    shuf: without('-o', '--output'),
    uniq: atMost(1),
    xxd: both(without('-r'), atMost(1)),
    file: without('-C', '--compile'),
    date: dateLooks,
    tree: without('-o'),
    time: without('-o', '--output'),
    strace: without('-o', '--output'),
    ltrace: without('-o', '--output'),
    script: (args) => args.at(-1) === '/dev/null',
    hostname: (args) =>
      args.every((arg) => /^-[fisdAI]+$|^--(fqdn|short|ip-address|all-ip-addresses)$/.test(arg)),
    mount: (args) => args.length === 0,
    top: (args) => args.some((arg) => /^-\w*b/.test(arg)),
    rg: without('--pre', '--hostname-bin'),
    yq: without('-i', '--inplace'),
    fd: without('-x', '-X', '--exec', '--exec-batch'),
    find: (args) => !args.some((arg) => /^-(delete|fprint.*|fls)$/.test(arg)),
    sed: sedLooks,
    awk: always,
    gawk: without('-i', '--include'),
    mawk: always,
    nawk: always,
    ip: (args) =>
      !args.some(
        (arg) =>
          /^(add|a?dd|del|delete|set|flush|change|replace|append|exec|restore|up|down)$/.test(arg) ||
          /^-(b|batch)/.test(arg),
      ),
    nc: (args) => args.some((arg) => /^-\w*z/.test(arg)) && without('-e', '-c', '-l')(args, []),
    curl: curlLooks,
    wget: (args) =>
      (args.includes('--spider') ||
        args.some((arg) => /^-\w*O-$/.test(arg)) ||
        /-\w*O -/.test(args.join(' '))) &&
      without(
        '--post-data',
        '--post-file',
        '--method',
        '--body-data',
        '--body-file',
        '--use-askpass',
        '-i',
        '-o',
        '-a',
        '-P',
      )(args, []),
    tar: (args) =>
      /^-?\w*t/.test(args[0] ?? '') &&
      without(
        '--to-command',
        '--checkpoint-action',
        '-I',
        '--use-compress-program',
        '-F',
        '--info-script',
      )(args, []),
    unzip: (args) => args.some((arg) => /^-\w*[lvtZ]/.test(arg)),
    gzip: (args) => args.some((arg) => /^-\w*[clt]/.test(arg)),
    journalctl: without(
      '--vacuum',
      '--rotate',
      '--flush',
      '--sync',
      '--relinquish-var',
      '--update-catalog',
      '--setup-keys',
      '--cursor-file',
    ),
    dmesg: without('-c', '-C', '-D', '-E', '-n', '--clear', '--read-clear', '--console'),
    systemctl: sub(
      'systemctl',
      'status',
      'is-active',
      'is-failed',
      'is-enabled',
      'is-system-running',
      'list-units',
      'list-timers',
      'list-unit-files',
      'list-sockets',
      'list-dependencies',
      'list-jobs',
      'show',
      'cat',
      'get-default',
    ),
    service: (args) => args.at(-1) === 'status',
    timedatectl: (args) => args.length === 0 || /^(status|show|timesync-status)$/.test(args[0] ?? ''),
    loginctl: (args) => args.length === 0 || /^(list-|show-|.*-status$)/.test(args[0] ?? ''),
    docker: dockerLooks,
    'docker-compose': (args) => dockerLooks(['compose', ...args]),
    podman: dockerLooks,
    kubectl: both(
      sub(
        'kubectl',
        'get',
        'describe',
        'logs',
        'top',
        'version',
        'explain',
        'api-resources',
        'api-versions',
        'cluster-info',
        'events',
        'config view',
        'config get-contexts',
        'config current-context',
        'rollout status',
        'rollout history',
        'auth can-i',
      ),
      without('--raw', '--output-directory'),
    ),
    helm: both(
      sub(
        'helm',
        'list',
        'ls',
        'status',
        'history',
        'get',
        'show',
        'search',
        'template',
        'lint',
        'version',
        'env',
      ),
      without('--post-renderer', '--output-dir'),
    ),
    git: gitLooks,
    gh: sub(
      'gh',
      'pr list',
      'pr view',
      'pr status',
      'pr checks',
      'pr diff',
      'issue list',
      'issue view',
      'issue status',
      'run list',
      'run view',
      'repo view',
      'auth status',
      'release list',
      'release view',
      'workflow list',
      'workflow view',
    ),
    tea: sub('tea', 'pr list', 'pulls list', 'issues list'),
    npm: sub('npm', 'ls', 'list', 'view', 'outdated', 'root', 'prefix', 'why', 'explain'),
    pip: sub('pip', 'list', 'show', 'freeze', 'check'),
    pip3: sub('pip3', 'list', 'show', 'freeze', 'check'),
    apt: sub('apt', 'list', 'show', 'search', 'policy'),
    'apt-cache': always,
    dpkg: (args) => /^-(l|L|s|S|p)$|^--(list|listfiles|status|search|print-avail)$/.test(args[0] ?? ''),
    rpm: (args) => /^-q/.test(args[0] ?? ''),
    ansible: () => false,
    'ansible-inventory': (args) =>
      args.some((arg) => /^--(list|graph|host)/.test(arg)) && without('--output')(args, []),
    crontab: (args) => args.length === 1 && args[0] === '-l',
    iptables: (args) =>
      args.some((arg) => /^-(L|S)/.test(arg)) &&
      without('-A', '-D', '-I', '-F', '-P', '-X', '-Z', '-N', '-R')(args, []),
    openssl: (args) =>
      /^(version|s_client|x509|verify)$/.test(args[0] ?? '') &&
      without('-out')(args, []) &&
      !args.includes('-out'),
    sh: always,
    bash: always,
    dash: always,
    zsh: always,
    ksh: always,
    ash: always,
  }),
)

/** Wrappers, shells and `eval` count as looking: what they start is a command of its own. */
const WRAPPING = new Set(
  'ssh watch chroot unshare nsenter flock su runuser setpriv prlimit chrt taskset numactl setarch gosu su-exec tini dumb-init unbuffer catchsegv eatmydata toybox'.split(
    ' ',
  ),
)

export function onlyLooks({ words }: Pick<SimpleCommand, 'words'>): boolean {
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
  return looks(textsOf(fields), fields)
}

/** A word that is no format sets the clock. */
function dateLooks(args: readonly string[]): boolean {
  const operands = args.filter(
    (arg, index) => !isOption(arg) && !/^(-d|-r|-f|--date|--reference|--file)$/.test(args[index - 1] ?? ''),
  )
  return operands.every((arg) => arg.startsWith('+')) && without('-s', '--set')(args, [])
}

function gitLooks(args: readonly string[]): boolean {
  if (
    args.some((arg) =>
      /^(--output|--ext-diff|--textconv|-O|--open-files-in-pager|--upload-pack|--exec)/.test(arg),
    )
  )
    return false
  const [name = '', ...rest] = subCommand('git', args)
  if (GIT.includes(name)) return true
  const options = args.filter(isOption)
  switch (name) {
    case 'branch':
      return (
        (rest.length === 0 ||
          options.some((option) =>
            /^(-l|--list|--contains|--merged|--no-merged|--points-at)$/.test(option),
          )) &&
        !options.some((option) =>
          /^-(d|D|m|M|c|C|u|f)|^--(del|mov|cop|set|unset|edit|forc|track)/.test(option),
        )
      )
    case 'tag':
      return (
        (rest.length === 0 || options.some((option) => /^(-l|--list|--contains)$/.test(option))) &&
        !options.some((option) => /^-(d|a|s|f|m|F|u)|^--(del|forc|ann|sign)/.test(option))
      )
    case 'remote':
      return rest.length === 0 || rest[0] === 'show' || rest[0] === 'get-url'
    case 'stash':
      return rest[0] === 'list' || rest[0] === 'show'
    case 'worktree':
      return rest[0] === 'list'
    case 'config':
      return (
        options.some((option) => /^(--get.*|--list|-l)$/.test(option)) || /^(get|list)$/.test(rest[0] ?? '')
      )
    case 'reflog':
      return rest.length === 0 || rest[0] === 'show'
    case 'submodule':
      return rest.length === 0 || rest[0] === 'status' || rest[0] === 'foreach'
    default:
      return name === ''
  }
}

function dockerLooks(args: readonly string[]): boolean {
  const words = subCommand('docker', args)
  const [first = '', second = ''] = words
  if (
    first === 'exec' ||
    (first === 'compose' && second === 'exec') ||
    (first === 'container' && second === 'exec')
  ) {
    // What it starts inside is a command of its own.
    return !args.includes('--privileged')
  }
  const name = `${first} ${second}`
  return DOCKER.includes(first) || COMPOSE.includes(name) || DOCKER_MANAGED.includes(name)
}

function curlLooks(args: readonly string[], fields: readonly Field[]): boolean {
  if (fields.some(({ unknown, tame, text }) => unknown && !tame && !/^https?:/.test(text))) return false
  for (const [index, arg] of args.entries()) {
    const next = args[index + 1] ?? ''
    if (/^(-X|--request)$/.test(arg) && !/^(GET|HEAD|OPTIONS)$/.test(next)) return false
    if (/^(-X|--request=)(?!GET$|HEAD$|OPTIONS$)./.test(arg)) return false
    if (/^(-o|--output)$/.test(arg) && next !== '/dev/null' && next !== '-') return false
    if (/^-[a-zA-Z]*o$/.test(arg) && !arg.startsWith('--') && next !== '/dev/null' && next !== '-')
      return false
    if (/^-[a-zA-Z]*o./.test(arg) && !/o(\/dev\/null|-)$/.test(arg)) return false
    if (/^-[a-zA-Z]*[dFTKOJQct]/.test(arg) && !/^-[a-zA-Z]*[HAuewmx]/.test(arg)) return false
    if (
      /^--(data|form|upload|config|remote|output-dir|json|dump-header|cookie-jar|trace|stderr|quote|url-query|unix-socket|abstract|proto-redir|telnet|mail|engine|libcurl|hsts|alt-svc|etag-save|netrc-file)/.test(
        arg,
      )
    )
      return false
    if (/^(file|ftp|scp|sftp|telnet|gopher|dict|ldap|smtp|imap|pop3|tftp):/i.test(arg)) return false
  }
  return true
}
