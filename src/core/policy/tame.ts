/** Programs whose output nobody can choose freely: numbers, dates, names of branches. */
import type { Command, ParsedScript, SyntaxNode } from 'unbash'

const FORMAT = String.raw`['"]?\+%[\w%:./+-]*( %[\w%:./+-]*)*['"]?`
const REVISION = String.raw`[\w.][\w./~^@-]*`

const TAME = new RegExp(
  `^(${[
    'git branch --show-current',
    `git rev-parse( --short| --verify| --abbrev-ref)* ${REVISION}`,
    `git (merge-base|rev-list --count)( ${REVISION})+`,
    'git symbolic-ref --short HEAD',
    String.raw`date( -u| -I\w*| -d ['"]?[\w@][\w :+-]*['"]?| ${FORMAT})*`,
    String.raw`pwd|whoami|hostname|nproc|id -[ug]n?|uname -\w`,
    String.raw`docker (compose )?ps (?!.*format).*-\w*q.*`,
    String.raw`mktemp( -[dqu])*( /tmp/[\w.-]+)?`,
    String.raw`kubectl( -n [\w-]+)? get \w+( -n [\w-]+| -l [\w=,./-]+)* -o name`,
  ].join('|')})$`,
)

/** Whatever they are given, they print numbers and nothing else. */
const COUNTS = new RegExp(
  `^(${[
    'wc( -[lwcm]+)*',
    String.raw`grep( -[ivwxEFhq]+)* -[ivwxEFh]*c[ivwxEFh]*( ('[^']*'|"[^"]*"|[^-\s'"]\S*)){1,2}`,
    String.raw`seq( -?\d+)+`,
    `stat -c ['"]?%[sYXZugaihb]['"]?( .*)?`,
    String.raw`pgrep( -[fxonc]+)* ['"]?[\w.-]+['"]?|pidof [\w.-]+`,
    String.raw`tr -(dc|cd) ['"]?(0-9|\[:digit:\])['"]?`,
    String.raw`docker inspect (-f|--format)[ =]['"]?\{\{ ?\.(RestartCount|State\.(Pid|ExitCode)) ?\}\}['"]?( .*)?`,
  ].join('|')})$`,
)

export function isTameScript(script: ParsedScript | undefined): boolean {
  const only = script?.commands.length === 1 ? script.commands[0]?.command : undefined
  if (only?.type === 'Command') return isTame(only) || counts(only)
  return only?.type === 'Pipeline' && isTameEnd(only.commands)
}

function isTameEnd(commands: readonly SyntaxNode[]): boolean {
  const last = commands.at(-1)
  if (last?.type !== 'Command') return false
  if (counts(last)) return true
  const before = commands.at(-2)
  const shortens = /^(head|tail)( -n ?\d+| -\d+)?$/.test(written(last))
  return shortens && commands.length === 2 && before?.type === 'Command' && isTame(before)
}

function isTame(command: Command): boolean {
  const { args } = command
  if (args.some((arg) => arg.type !== 'Word' || arg.parts?.some(({ type }) => /Expansion/.test(type))))
    return false
  return command.redirects.length === 0 && TAME.test(written(command))
}

/** Numbers, whatever the words are, as long as no option is hidden in them. */
function counts(command: Command): boolean {
  const { args } = command
  return args.every(({ type }) => type === 'Word') && COUNTS.test(written(command))
}

const written = ({ name, args }: Command) => [name?.value, ...args.map(({ text }) => text)].join(' ')
