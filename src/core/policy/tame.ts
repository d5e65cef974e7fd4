/**
 * Programs whose output nobody can choose freely: numbers, and names that cannot begin with a dash because whoever keeps
 * them does not take such. A number may be computed with; a name may be that of a variable, so it may not.
 */
import type { Command, ParsedScript, SyntaxNode } from 'unbash'
import type { Tame } from './command.ts'
import type { ShellState } from './shell-state.ts'

const pattern = (...forms: readonly string[]) => new RegExp(`^(${forms.join('|')})$`)

const REVISION = String.raw`[\w.][\w./~^@-]*`
const SELECTED = String.raw`( -n [\w-]+| -l ['"]?[\w=,./-]+['"]?| -A| --all-namespaces| --no-headers| --selector=[\w=,./-]+| --namespace=[\w-]+)*`
const RUNNING = String.raw`( -[aqln]+| -n \d+| --all| --latest| -f ['"]?[\w=./-]+['"]?| --filter[= ]['"]?[\w=./-]+['"]?)*`
const DATE = String.raw`date( -u| -I\w*| -d ['"]?[\w@][\w :+-]*['"]?`
const URL = String.raw`https?://[^\s'"$\x60\\]+|'https?://[^']+'|"https?://[^"\x60\\]+"`

const NAMES = pattern(
  'git branch --show-current',
  `git rev-parse( --short| --verify| --abbrev-ref)* ${REVISION}`,
  `git merge-base( ${REVISION})+`,
  `git (log|rev-list)( -\\d+| -n ?\\d+| --no-merges| --merges| --first-parent| --reverse| ${REVISION})* --(format|pretty)=['"]?(format:)?%[hH]['"]?( -\\d+| -n ?\\d+| ${REVISION})*( --( [\\w./]+)+)?`,
  `git rev-list( -\\d+| -n ?\\d+| --no-merges| --first-parent| ${REVISION})+`,
  'git symbolic-ref --short HEAD',
  String.raw`${DATE}| ['"]?\+%[\w%:./+-]*( %[\w%:./+-]*)*['"]?)*`,
  String.raw`whoami|hostname|id -[ug]n|uname -\w`,
  String.raw`docker (compose )?ps (?!.*format).*-\w*q.*`,
  `docker ps${RUNNING} --format[= ]['"]?\\{\\{ ?\\.(ID|Names) ?\\}\\}['"]?${RUNNING}`,
  `kubectl${SELECTED} get \\w+${SELECTED} -o name${SELECTED}`,
  `kubectl${SELECTED} get \\w+${SELECTED} -o jsonpath=['"]?\\{\\.items\\[[\\d*]\\]\\.metadata\\.name\\}['"]?${SELECTED}`,
)

/** A template without places to fill in would make none. */
const MADE = pattern(
  String.raw`mktemp( -[dqu]+| -t(?= \S*XXX)| --(directory|quiet))*( (/tmp/)?[\w.-]*XXX[\w.-]*)?`,
)

/** Tables with a name, or an id, in their first column. */
const TABLES = pattern(`kubectl${SELECTED} get \\w+${SELECTED}`, `docker ps${RUNNING}`)

/** Whatever they are given, they print numbers and nothing else. */
const COUNTS = pattern(
  'wc( -[lwcm]+)*',
  String.raw`grep( -[ivwxEFhq]+)* -[ivwxEFh]*c[ivwxEFh]*( ('[^']*'|"[^"]*"|[^-\s'"]\S*)){1,2}`,
  String.raw`seq( -?\d+)+`,
  `stat -c ['"]?%[sYXZugaihb]['"]?( .*)?`,
  String.raw`pgrep( -[fxonc]+)* ['"]?[\w.-]+['"]?|pidof [\w.-]+`,
  String.raw`tr -(dc|cd) ['"]?(0-9|\[:digit:\])['"]?`,
  String.raw`docker inspect (-f|--format)[ =]['"]?\{\{ ?\.(RestartCount|State\.(Pid|ExitCode)) ?\}\}['"]?( .*)?`,
)

/** The same, as long as all of it is written out. */
const NUMBERS = pattern(
  `${DATE}| ['"]?\\+%[sYmdHMSjuyN]+['"]?)*`,
  'nproc|id -[ug]',
  `git rev-list --count( ${REVISION})+`,
  `curl(?=.* -o /dev/null)(?=.* -w)( -[sSkLf]+| -o /dev/null| -w ['"]?%\\{(http_code|response_code)\\}['"]?| -m \\d+| --(max-time|connect-timeout) \\d+| (${URL}))+`,
  String.raw`systemctl show( [\w@.-]+)? (-p|--property)[ =]?(NRestarts|MainPID|ExecMainStatus) --value( [\w@.-]+)?`,
  `kubectl${SELECTED} get \\w+ [\\w-]+${SELECTED} -o jsonpath=['"]?\\{\\.(status|spec)\\.(ready|available|updated)?[rR]eplicas\\}['"]?${SELECTED}`,
)

/** They leave lines out, and change none. */
const FILTERS = pattern(
  String.raw`(head|tail)( -n ?-?\d+| -\d+)?`,
  'sort( -[runV]+)*|uniq',
  String.raw`grep( -[ivwxEF]+)* ('[^'-][^']*'|"[^"$\x60-][^"$\x60]*"|[\w.][\w./-]*)`,
)

/** What a substitution prints, if that is one of these. */
export function tameOf(script: ParsedScript | undefined, state: ShellState): Tame | undefined {
  const commands = commandsOf(script, state)
  if (!commands) return undefined
  if (isNumeric(commands)) return 'number'
  const lines = commands.map(written)
  const [first, ...others] = lines
  if (first === undefined || commands.some((command) => !isPlain(command))) return undefined
  if (MADE.test(first) && others.length === 0) return 'made'
  if (first === 'pwd' && others.length === 0) return 'place'
  if (NAMES.test(first) && others.every((line) => FILTERS.test(line))) return 'name'
  const column = others.pop() ?? ''
  const isColumn = /^awk '\{ ?print \$1 ?\}'$/.test(column)
  return isColumn && TABLES.test(first) && others.every((line) => FILTERS.test(line)) ? 'name' : undefined
}

export function isNumericScript(script: ParsedScript | undefined, state: ShellState): boolean {
  const commands = commandsOf(script, state)
  return !!commands && isNumeric(commands)
}

/** Those of a pipeline, if it is nothing else, and each is the program that it is named after. */
function commandsOf(script: ParsedScript | undefined, state: ShellState): Command[] | undefined {
  const only = script?.commands.length === 1 ? script.commands[0]?.command : undefined
  const nodes: readonly SyntaxNode[] =
    only?.type === 'Pipeline' ? only.commands : only?.type === 'Command' ? [only] : []
  const commands = nodes.filter((node) => node.type === 'Command')
  if (commands.some(({ name }) => state.isRedefined(name?.value ?? ''))) return undefined
  // What comes first does not matter if the last one counts.
  return commands.length === nodes.length || commands.at(-1) === nodes.at(-1) ? commands : undefined
}

function isNumeric(commands: readonly Command[]): boolean {
  const [first] = commands
  const last = commands.at(-1)
  if (!first || !last) return false
  if (last.args.every(({ type }) => type === 'Word') && COUNTS.test(written(last))) return true
  return commands.length === 1 && isPlain(first, 'DoubleQuoted') && NUMBERS.test(written(first))
}

/** Without words that only the shell knows; `except`: but in these. */
function isPlain({ args, redirects }: Command, except?: 'DoubleQuoted'): boolean {
  const known = args.every(
    (arg) =>
      arg.type === 'Word' &&
      !arg.parts?.some((part) =>
        part.type === 'DoubleQuoted'
          ? part.type !== except && part.parts.some(({ type }) => /Expansion/.test(type))
          : /Expansion|Substitution/.test(part.type),
      ),
  )
  return known && redirects.every((redirect) => isQuiet(redirect))
}

/** `2>/dev/null` */
const isQuiet = (redirect: Command['redirects'][number]) =>
  redirect.type === 'Redirect' &&
  redirect.target?.value === '/dev/null' &&
  redirect.descriptor?.type === 'FileDescriptor' &&
  redirect.descriptor.value === 2

const written = ({ name, args }: Command) => [name?.value, ...args.map(({ text }) => text)].join(' ')
