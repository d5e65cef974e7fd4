/** Programs that only look, with the options that keep them to it. A program that is not here does not only look. */
import { gitLooks } from './looking-git.ts'
import { curlLooks, ipLooks, wgetLooks } from './looking-network.ts'
import { type GivenOptions, givenOptions, optionList } from './option-list.ts'

type Looks = (args: readonly string[]) => boolean

/** No option of these writes, sends or starts anything. */
const ANY =
  `ls cat head tail wc grep egrep fgrep cut tr paste join comm diff cmp column nl fold fmt expand unexpand rev tac
  seq echo true false : pwd cal uptime who w whoami id groups uname arch nproc free df du lsblk findmnt ps pgrep pidof
  pstree last lscpu vmstat iostat mpstat netstat ping ping6 traceroute tracepath host nslookup dig getent stat readlink
  realpath basename dirname md5sum sha1sum sha256sum sha512sum cksum b2sum od hexdump strings jq which type whereis
  printenv locale getconf sleep exit return break continue shift clear zcat bzcat xzcat numfmt factor expr
  base64 base32 cd pushd popd dirs ulimit`.split(/\s+/)
export const NO_DANGEROUS_OPTION: ReadonlySet<string> = new Set(ANY)

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

export const LOOKING_PROGRAMS: ReadonlyMap<string, Looks> = new Map<string, Looks>([
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
      /^(\d+|\$|\/[^/\\[]*\/)(,(\d+|\$|\/[^/\\[]*\/))?p$/.test(args[1] ?? '') &&
      args.slice(2).every((arg) => !arg.startsWith('-')),
  ],
  ['curl', curlLooks],
  ['wget', wgetLooks],
  ['nc', only('-zvnu46 -w:', (given) => has(given, '-z'))],
  ['crontab', only('-l -u:', (given) => has(given, '-l'))],
  ['dpkg', only('-lsLS --list --status --listfiles --search', ({ options }) => options.length > 0)],
  ['git', gitLooks],
])
