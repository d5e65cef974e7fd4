/** Services, packages, processes and the clock: which calls only look. */
import type { Field } from '../command.ts'
import { givenOptions, type OptionList, optionList } from '../given-options.ts'

type Looks = (fields: readonly Field[]) => boolean

const words = (text: string) => new Set(text.split(' '))

/** Whatever else is given: these options and no others. */
const only = (...lists: readonly string[]): Looks => {
  const list = optionList(...lists)
  return (fields) => givenOptions(fields, list) !== undefined
}
/** The first words are one of these, and the options are in the list. */
const verbs = (names: string, list: OptionList): Looks => {
  const rows = names.split(',').map((name) => name.split(' '))
  return (fields) => {
    const operands = givenOptions(fields, list)?.operands
    return !!operands && rows.some((row) => row.every((word, index) => operands[index]?.text === word))
  }
}

const SYSTEMCTL = optionList(
  '-alqr -n: -o: -p: -P: -t: --all --full --no-pager --lines= --output= --property= --value --type= --state= --no-legend --legend= --plain --user --system --failed --quiet --reverse --after --before --with-dependencies --recursive --show-types --timestamp= --version --help',
)
const SYSTEMCTL_VERBS = words(
  'status is-active is-failed is-enabled is-system-running list-units list-timers list-unit-files list-sockets list-dependencies list-jobs list-automounts list-paths list-machines show cat help get-default show-environment',
)

const systemctlLooks: Looks = (fields) => {
  const given = givenOptions(fields, SYSTEMCTL, { trusting: true })
  const verb = given?.operands[0]
  return !!given && (!verb || (!verb.unknown && SYSTEMCTL_VERBS.has(verb.text)))
}

const serviceLooks: Looks = (fields) =>
  fields.length === 1
    ? fields[0]?.text === '--status-all'
    : fields.length === 2 && fields[1]?.text === 'status' && !fields[0]?.text.startsWith('-')

const PS_PACKAGES = '-a -q --installed --upgradable --upgradeable --all-versions --quiet --names-only -n'

const PIP = optionList(
  '-oulvq --outdated --uptodate --format= --user --local --not-required --files -f --verbose --all',
)

const MOUNT = optionList('-l -t: --show-labels --types=')
const CRONTAB = optionList('-l -u:')
const TOP = optionList('-bHciSs1 -n: -d: -p: -u: -U: -o: -w? -E: -e:')
const RPM = optionList(
  '-ailRcdfpsvg --all --info --list --file --package --changelog --scripts --requires --provides --conflicts --obsoletes --last --queryformat= --qf= --whatprovides --whatrequires --docfiles --configfiles --state --triggers',
)
const SYSCTL = optionList('-aAnNeqb -r: --all --names --values --ignore --pattern= --quiet --binary')
const NO_OPTIONS = optionList()
const NGINX = optionList('-tTq')
const NVIDIA = optionList(
  '-qL -i: -d: --query --list-gpus --id= --display= --query-gpu= --query-compute-apps= --format=',
)
const RULES = optionList(
  '-LSnvxw -t: --list --list-rules --numeric --verbose --exact --line-numbers --table=',
)

export const SYSTEM: Record<string, Looks> = {
  systemctl: systemctlLooks,
  service: serviceLooks,
  journalctl: only(
    '-afeqrxklm -u: -n: -b? -p: -o: -t: -g: -S: -U: -T: -D: -c: -# -N --unit= --user-unit= --lines? --follow --since= --until= --no-pager --no-tail --no-hostname --reverse --boot? --priority= --output= --output-fields= --identifier= --exclude-identifier= --grep= --case-sensitive? --dmesg --catalog --pager-end --quiet --all --full --no-full --utc --list-boots --disk-usage --system --user --merge --field= -F: --fields --header --facility= --cursor= --after-cursor= --show-cursor --truncate-newline --transport= --directory= --file= --invocation= --list-invocations --version',
  ),
  dmesg: only(
    '-THwWxkuLtrPdeJSp -l: -f: --human --time-format= --ctime --level= --facility= --follow --follow-new --decode --kernel --userspace --nopager --color? --since= --until= --reltime --notime --show-delta --json --raw --force-prefix --syslog --noescape --version --help',
  ),
  timedatectl: verbs(
    'status,show,timesync-status,show-timesync,list-timezones',
    optionList('-a -p: --no-pager --property= --value --all'),
  ),
  loginctl: verbs(
    'list-sessions,list-users,list-seats,session-status,user-status,seat-status,show-session,show-user,show-seat',
    optionList('-al -p: -n: --no-pager --property= --value --all --full --no-legend --lines='),
  ),
  hostnamectl: verbs('status', optionList('--no-pager --json=')),
  lsof: only('-nPtalUNbwXRVOCEKQ -i? -p: -u: -c: -d: -g? -F? -s? -o? -r? -S? -T? -L? -x? -f? -e:'),
  sar: only('-AbBdFHhIqrRSuvWwyzpt -n: -P: -f? -s? -e? -i: -m:'),
  mount: (fields) => {
    const given = givenOptions(fields, MOUNT)
    return given?.operands.length === 0
  },
  crontab: (fields) => {
    const given = givenOptions(fields, CRONTAB)
    return !!given && given.operands.length === 0 && given.options.some(({ name }) => name === '-l')
  },
  sysctl: (fields) => {
    const given = givenOptions(fields, SYSCTL)
    return !!given?.operands.every(({ text, unknown }) => !unknown && !text.includes('='))
  },
  // Signal 0 is none: it asks whether the process is there.
  kill: ([first, ...rest]) => first?.text === '-0' && givenOptions(rest, NO_OPTIONS) !== undefined,
  nginx: (fields) => {
    const given = givenOptions(fields, NGINX)
    return given?.operands.length === 0 && given.options.some(({ name }) => /^-[tT]$/.test(name))
  },
  nstat: only('-aszjp --json --pretty --noupdate --zeros --ignore'),
  'nvidia-smi': (fields) => givenOptions(fields, NVIDIA)?.operands.length === 0,
  iptables: rulesLook,
  ip6tables: rulesLook,
  nft: verbs('list', optionList('-anstjyNSp --handle --numeric --stateless --json --terse')),
  top: (fields) => !!givenOptions(fields, TOP)?.options.some(({ name }) => name === '-b'),
  apt: verbs('list,show,search,policy', optionList(PS_PACKAGES)),
  'apt-cache': verbs(
    'search,show,policy,depends,rdepends,madison,pkgnames,showpkg,showsrc,stats,unmet',
    optionList(`${PS_PACKAGES} --recurse --no-recommends --no-suggests`),
  ),
  dpkg: ([first, ...rest]) =>
    /^(-[lLsSpVC]|--(list|listfiles|status|search|print-avail|verify|audit|get-selections|print-architecture))$/.test(
      first?.text ?? '',
    ) && rest.every(({ text, unknown }) => !unknown && !text.startsWith('-')),
  rpm: ([first, ...rest]) =>
    /^-q[ailRcdfpsvgV]*$/.test(first?.text ?? '') && givenOptions(rest, RPM) !== undefined,
  npm: verbs(
    'ls,list,view,info,show,outdated,root,prefix,why,explain',
    optionList(
      '-galp -w: --global --all --long --parseable --json --depth= --prod --production --omit= --include= --workspace= --workspaces --prefix= --link',
    ),
  ),
  pip: verbs('list,show,freeze,check', PIP),
  pip3: verbs('list,show,freeze,check', PIP),
  gh: verbs(
    'pr list,pr view,pr status,pr checks,pr diff,issue list,issue view,issue status,run list,run view,repo view,auth status,release list,release view,workflow list,workflow view',
    optionList(
      '-cdvya -R: -L: -s: -l: -A: -B: -H: -S: -q: -t: -j: -b: -u: -r: -e: --repo= --limit= --state= --label= --author= --assignee= --mention= --milestone= --base= --head= --search= --json= --jq= --template= --comments --log --log-failed --job= --workflow= --branch= --status= --event= --user= --commit= --created= --exit-status --verbose --attempt= --hostname= --name-only --patch --color= --required --draft --app= --yaml --ref= --all --active --order= --exclude-drafts --exclude-pre-releases',
    ),
  ),
  tea: verbs(
    'pr list,pulls list,issues list',
    optionList('-r: -l: -o: -R: --repo= --login= --output= --state= --limit= --page= --fields= -f: -p:'),
  ),
}

const ASKING_VERSION: ReadonlyMap<string, RegExp> = new Map([
  ...['node', 'nodejs', 'npm', 'ruby', 'perl', 'php'].map((name) => [name, /^-v$/] as const),
  ['python', /^-VV?$/],
  ['python3', /^-VV?$/],
  ['go', /^version$/],
  ['java', /^-version$/],
  ['nginx', /^-[vV]$/],
])

/** Besides `--version`, which all programs have. */
export const asksVersion = (program: string, args: readonly Field[]) =>
  args.length === 1 && ASKING_VERSION.get(program)?.test(args[0]?.text ?? '') === true

/** `iptables -nvL`, `iptables -S`. */
function rulesLook(fields: readonly Field[]): boolean {
  const given = givenOptions(fields, RULES)
  return !!given?.options.some(({ name }) => /^(-[LS]|--list(-rules)?)$/.test(name))
}
