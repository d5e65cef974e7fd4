/**
 * Programs that only look: they change no file, start nothing and send nothing but a question. Used where no sandbox
 * holds what an agent can touch, so it is strict: a program or an option that is not in the table does not only look.
 */
import { gitLooks } from './looking-git.ts'
import { type GivenOptions, givenOptions, optionList } from './option-list.ts'
import { baseName, type PlainCommand } from './reading.ts'

type Looks = (args: readonly string[]) => boolean

/** No option of these writes, sends or starts anything. */
const ANY =
  `ls cat head tail wc grep egrep fgrep cut tr paste join comm diff cmp column nl fold fmt expand unexpand rev tac
  seq echo true false : pwd cal uptime who w whoami id groups uname arch nproc free df du lsblk findmnt ps pgrep pidof
  pstree last lscpu vmstat iostat mpstat netstat ping ping6 traceroute tracepath host nslookup dig getent stat readlink
  realpath basename dirname md5sum sha1sum sha256sum sha512sum cksum b2sum od hexdump strings jq which type whereis
  printenv locale getconf sleep exit return break continue shift clear zcat bzcat xzcat numfmt factor expr
  base64 base32 cd pushd popd dirs ulimit`.split(/\s+/)
const NO_DANGEROUS_OPTION: ReadonlySet<string> = new Set(ANY)

const only = (list: string, accepts: (given: GivenOptions) => boolean = () => true): Looks => {
  const options = optionList(list)
  return (args) => {
    const given = givenOptions(args, options)
    return given !== undefined && accepts(given)
  }
}

const has = ({ options }: GivenOptions, ...names: readonly string[]) =>
  options.some(({ name }) => names.includes(name))

/** Names of variables that change nothing else. */
const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/

const FIND_TESTS = new Set(
  `-H -L -P -name -iname -path -ipath -wholename -regex -iregex -regextype -type -xtype -size -empty -mtime -mmin -atime
  -amin -ctime -cmin -newer -newermt -perm -user -group -uid -gid -nouser -nogroup -links -inum -samefile -maxdepth
  -mindepth -depth -mount -xdev -prune -print -print0 -printf -ls -quit -not -and -or -a -o -true -false -readable
  -writable -executable -follow -daystart -lname -fstype`.split(/\s+/),
)

/** A schema other than http may send more than a question; braces and brackets may make one. */
function isWebAddress(text: string): boolean {
  const rest = text.replace(/^https?:\/\/(\[[\da-f:]+\])?/i, '')
  if (/[{}[\]]/.test(rest)) return false
  return rest !== text || (!rest.includes('://') && !/^(ftps?|dict|ldap|imap|smtp|pop3)\./i.test(rest))
}

const CURL = optionList(
  '-sSfLkIivgGN#0146 -m: -H: -A: -e: -u: -w: -o: -D: -X: -r: -y: -Y: --silent --show-error --fail --fail-with-body --location --insecure --head --include --verbose --get --no-buffer --compressed --http1.1 --http2 --ipv4 --ipv6 --globoff --no-progress-meter --max-time= --connect-timeout= --retry= --retry-delay= --retry-max-time= --retry-connrefused --retry-all-errors --header= --user-agent= --referer= --user= --write-out= --output= --dump-header= --request= --resolve= --connect-to= --url= --max-redirs= --range= --noproxy= --path-as-is',
)

function curlLooks(args: readonly string[]): boolean {
  const given = givenOptions(args, CURL)
  return (
    !!given?.operands.every(isWebAddress) &&
    given.options.every(({ name, value = '' }) => {
      switch (name) {
        case '-o':
        case '--output':
          return value === '/dev/null' || value === '-'
        case '-D':
        case '--dump-header':
          return value === '-'
        case '-X':
        case '--request':
          return value === 'GET' || value === 'HEAD'
        case '-H':
        case '--header':
          // `@file` sends what is in the file.
          return !value.startsWith('@')
        case '-w':
        case '--write-out':
          return !value.startsWith('@') && !value.includes('%output')
        case '--url':
          return isWebAddress(value)
        default:
          return true
      }
    })
  )
}

const IP = optionList(
  '-46sdhNojpct --json --pretty --brief --color? --stats --details --human --resolve --oneline',
)

/** `ip addr`, `ip -br link show dev x`, `ip route get 1.1.1.1`. */
function ipLooks(args: readonly string[]): boolean {
  const plain = args.filter((arg) => !/^-(br|brief)$/.test(arg))
  const [, verb, ...rest] = givenOptions(plain, IP, { leading: true })?.operands ?? []
  if (verb === undefined) return plain.length > 0 && givenOptions(plain, IP, { leading: true }) !== undefined
  return /^(sh|show|ls|list|get)$/.test(verb) && rest.every((word) => /^[\w.:/@-]+$/.test(word))
}

const TABLE: ReadonlyMap<string, Looks> = new Map<string, Looks>([
  ...ANY.map((name) => [name, () => true] as const),
  // `printf -v` assigns, `test -v` evaluates what it is given.
  ['printf', ([first = '']) => !first.startsWith('-')],
  ...['test', '['].map(
    (name) => [name, (args: readonly string[]) => !args.some((arg) => /^-[vR]$/.test(arg))] as const,
  ),
  [
    'set',
    (args) =>
      args[0] === '--' ||
      args.every((arg) => /^[-+][eEuxvo]+$|^(pipefail|errexit|nounset|xtrace)$/.test(arg)),
  ],
  [
    'read',
    only('-rs -p: -t: -n: -N: -d: -u:', ({ operands }) => operands.every((name) => PLAIN_NAME.test(name))),
  ],
  ...['mapfile', 'readarray'].map(
    (name) =>
      [
        name,
        only('-t -d: -n: -s:', ({ operands }) => operands.every((word) => PLAIN_NAME.test(word))),
      ] as const,
  ),
  ['unset', (args) => args.every((name) => PLAIN_NAME.test(name))],
  ['wait', (args) => args.every((arg) => /^(-n|%?\d+)$/.test(arg))],
  ['jobs', (args) => args.every((arg) => /^-[lnprs]+$/.test(arg))],
  ['umask', (args) => args.length === 0],
  ['command', ([first = '']) => /^-[vV]$/.test(first)],
  ['env', (args) => args.length === 0],
  ['xargs', (args) => args.length === 0],
  ['kill', (args) => /^-[0l] ?[\d ]*$/.test(args.join(' '))],
  ['hostname', (args) => args.every((arg) => /^-[fisdAI]+$|^--(fqdn|short|ip-address)$/.test(arg))],
  [
    'date',
    only('-uR -d: -r: -I? --date= --utc --iso-8601? --rfc-3339= --reference=', ({ operands }) =>
      operands.every((word) => word.startsWith('+')),
    ),
  ],
  [
    'dmesg',
    only(
      '-HTLtxkPwWd -l: -f: -s: --level= --facility= --human --ctime --color? --decode --kernel --nopager --follow --since= --until= --time-format= --json',
    ),
  ],
  [
    'journalctl',
    only(
      '-afekqrxmNl -b? -u: -n: -# -o: -p: -S: -U: -t: -g: -c: -F: --unit= --user-unit= --since= --until= --lines= --output= --priority= --boot? --dmesg --follow --no-pager --grep= --identifier= --catalog --reverse --no-hostname --no-full --full --all --utc --list-boots --disk-usage --quiet --system --user --case-sensitive? --facility= --output-fields= --pager-end --no-tail --header',
      ({ operands }) => operands.every((word) => /^(\w+=|\+$|\/|\d+$)/.test(word)),
    ),
  ],
  [
    'ss',
    only(
      '-ntluaxpeomis46rHOTZzbEM -f: -A: --tcp --udp --unix --listening --numeric --processes --all --extended --options --memory --info --summary --ipv4 --ipv6 --family= --query= --no-header --oneline --resolve',
    ),
  ],
  ['ip', ipLooks],
  ['lsof', only('-nPltwURbaVS -i? -p: -u: -c: -s? -g? -d: -F? -r:')],
  ['top', only('-bcHisS1 -n: -d: -p: -u: -U: -o: -w? -e: -E:', (given) => has(given, '-b'))],
  [
    'sort',
    only(
      '-bdfghMnRrVcCmsuz -k: -t: --reverse --numeric-sort --human-numeric-sort --version-sort --unique --key= --field-separator= --ignore-case --stable --zero-terminated --check? --general-numeric-sort --month-sort --random-sort --merge',
    ),
  ],
  [
    'uniq',
    only(
      '-cdDiuz -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields= --skip-chars=',
      ({ operands }) => operands.length < 2,
    ),
  ],
  ['file', only('-bikLhNnpszZ0r -F: -m: -P: --brief --mime --mime-type --mime-encoding --dereference')],
  [
    'tree',
    only(
      '-adflxpugsDhFirtvcUCnqNQ -L: -P: -I: --dirsfirst --du --noreport --prune --filelimit= --si --inodes',
    ),
  ],
  [
    'rg',
    only(
      '-niclLwvxoNHhaUFPSsuzp0. -e: -f: -g: -t: -T: -A: -B: -C: -m: -d: -j: --hidden --no-ignore --files --type= --type-not= --glob= --iglob= --line-number --no-line-number --ignore-case --smart-case --count --files-with-matches --files-without-match --word-regexp --fixed-strings --invert-match --only-matching --context= --after-context= --before-context= --max-count= --max-depth= --sort= --json --color= --no-heading --heading --multiline --pcre2 --stats --no-messages --with-filename --no-filename --null --trim --max-columns= --text --column --vimgrep --pretty --follow',
    ),
  ],
  [
    'find',
    (args) =>
      args.every(
        (arg) =>
          !arg.startsWith('-') || FIND_TESTS.has(arg) || /^-\d+[a-zA-Z]?$|^-[ugo]*[=+-]?[rwxst,]+$/.test(arg),
      ),
  ],
  [
    'sed',
    (args) =>
      /^(-n|--quiet|--silent)$/.test(args[0] ?? '') &&
      /^(\d+|\$|\/[^/\\]*\/)(,(\d+|\$|\/[^/\\]*\/))?p$/.test(args[1] ?? '') &&
      args.slice(2).every((arg) => !arg.startsWith('-')),
  ],
  ['curl', curlLooks],
  [
    'wget',
    (args) =>
      only(
        '-qSN -O: -T: -t: -U: --spider --timeout= --tries= --header= --no-check-certificate --server-response --quiet --no-verbose --output-document= --user-agent=',
        (given) =>
          given.operands.every(isWebAddress) &&
          (has(given, '--spider') ||
            given.options.some(({ name, value }) => /^(-O|--output-document)$/.test(name) && value === '-')),
      )(args.filter((arg) => arg !== '-nv')),
  ],
  ['nc', only('-zvnu46 -w:', (given) => has(given, '-z'))],
  ['crontab', only('-l -u:', (given) => has(given, '-l'))],
  ['dpkg', only('-lsLS --list --status --listfiles --search', ({ options }) => options.length > 0)],
  ['git', gitLooks],
])

/** Where programs are that bear the name they are known by. */
const USUAL_PLACE = /^(\/usr)?(\/local)?\/s?bin\/[^/]+$/

export function isUsualProgram(name: string): boolean {
  return !name.includes('/') || USUAL_PLACE.test(name)
}

export function onlyLooks({ argv, globs, elevated, openEnded }: PlainCommand): boolean {
  const [path, ...args] = argv
  if (path === undefined) return true
  if (elevated || !isUsualProgram(path)) return false
  const name = baseName(path)
  const looks = TABLE.get(name)
  if (NO_DANGEROUS_OPTION.has(name)) return true
  // What is given later, or the name of a file, may be an option.
  if (openEnded || globs.some((at) => /^[*?[]/.test(argv[at] ?? ''))) return false
  if (args.length === 1 && (args[0] === '--version' || args[0] === '--help')) return true
  return looks?.(args) ?? false
}

/** Variables that change only how something is shown. */
const SHOWING =
  /^(LC_\w+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|TERM|DEBIAN_FRONTEND|GIT_OPTIONAL_LOCKS|IFS)=/
const NO_PAGER = /^(GIT_|SYSTEMD_|KUBECTL_)?PAGER=(cat)?$/
/** zsh reads these as lists of directories. */
const SEARCHED = /^(path|cdpath|fpath|manpath|module_path)=/

/** The assignment may change what is started, or what that does. */
export function isSteering(assignment: string): boolean {
  if (SHOWING.test(assignment) || NO_PAGER.test(assignment)) return false
  return SEARCHED.test(assignment) || !/^[a-z_][a-z0-9_]*=/.test(assignment)
}
