/** The options of an argument list as a set of names: joined letters taken apart, the same option under one name. */
import { isOption } from './arguments.ts'
import { pushEffects } from './git-push.ts'

/** By program, or by its sub-command: names of the same option; the first is the one that is compared. */
const SAME: Record<string, readonly (readonly string[])[]> = {
  'git push': [
    ['--force', '-f'],
    ['--delete', '-d'],
    ['--all', '--branches'],
    ['--set-upstream', '-u'],
  ],
  'git send-pack': [['--force', '-f']],
  'git clean': [['--force', '-f']],
  'git checkout': [['--force', '-f']],
  rm: [
    ['--recursive', '-r', '-R'],
    ['--force', '-f'],
  ],
  chmod: [['--recursive', '-R']],
  chown: [['--recursive', '-R']],
  cp: [['--recursive', '-r', '-R']],
  docker: [
    ['--force', '-f'],
    ['--all', '-a'],
    ['--volumes', '-v'],
    ['--detach', '-d'],
  ],
}

type Names = ReadonlyMap<string, string>

const BY_COMMAND: ReadonlyMap<string, Names> = new Map(
  Object.entries(SAME).map(([command, rows]) => [
    command,
    new Map(rows.flatMap((names) => names.map((name) => [name, names[0] ?? name] as const))),
  ]),
)

function sameNames(program: string, args: readonly string[]): Names | undefined {
  for (const arg of args) {
    const found = isOption(arg) ? undefined : BY_COMMAND.get(`${program} ${arg}`)
    if (found) return found
  }
  return BY_COMMAND.get(program)
}

/** One option a word: `-rf` is `-r` and `-f`, its value is cut off. A push that deletes or overwrites is `--force`. */
export function optionNames(program: string, args: readonly string[]): Set<string> {
  const names = new Set<string>()
  const same = sameNames(program, args)
  const add = (name: string) => void names.add(same?.get(name) ?? name)
  for (const arg of args) {
    if (arg === '--') break
    if (!isOption(arg)) continue
    const sign = arg.indexOf('=')
    const name = sign === -1 ? arg : arg.slice(0, sign)
    if (!isJoined(name)) add(name)
    if (!arg.startsWith('--')) for (const letter of name.slice(1, MOST_LETTERS)) add(`-${letter}`)
  }
  if (program === 'git') for (const name of pushEffects(args)) names.add(name)
  return names
}

/** Letters that are flags of their own; a longer word with one dash may be an option of its own. */
const isJoined = (name: string) => /^-[a-zA-Z\d]{2,6}$/.test(name)

/** No program has more flags of one letter. */
const MOST_LETTERS = 64

/** Long options may be abbreviated: `--forc` is `--force`. One letter is enough; if it is ambiguous, the program refuses it. */
export function abbreviatesOption(names: ReadonlySet<string>, wanted: string): boolean {
  if (names.has(wanted)) return true
  if (!wanted.startsWith('--')) return false
  for (const name of names)
    if (name.length > 2 && name.startsWith('--') && wanted.startsWith(name)) return true
  return false
}
