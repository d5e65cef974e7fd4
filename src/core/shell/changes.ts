/** Which files a plain command changes, for the programs whose arguments say it. */

import { gitChanges } from './git-changes.ts'
import { type GivenOptions, givenOptions, type OptionList, optionList } from './option-list.ts'
import type { Change, ChangedFiles } from './protected-paths.ts'
import { baseName, type PlainCommand } from './reading.ts'
import { SED_OPTIONS } from './sed-script.ts'

interface Changer {
  options: OptionList
  changes: (given: GivenOptions) => Change[]
}

const has = ({ options }: GivenOptions, ...names: readonly string[]) =>
  options.some(({ name }) => names.includes(name))

const isRecursive = (given: GivenOptions) => has(given, '-r', '-R', '-a', '--recursive', '--archive')

const each = (paths: readonly string[], deep: boolean) => paths.map((path) => ({ path, deep }))

const operands = (given: GivenOptions) => each(given.operands, isRecursive(given))

/** The first operand is a mode or an owner. */
const afterFirst = (given: GivenOptions) => each(given.operands.slice(1), isRecursive(given))

/** What lands in a directory keeps its name. `moves`: the sources are changed too. */
const copies =
  (moves: boolean) =>
  (given: GivenOptions): Change[] => {
    const [into] = given.options.flatMap(({ name, value }) =>
      /^(-t|--target-directory)$/.test(name) && value !== undefined ? [value] : [],
    )
    const sources = into === undefined ? given.operands.slice(0, -1) : given.operands
    const targets = into === undefined ? given.operands.slice(-1) : [into]
    const deep = moves || isRecursive(given)
    // `cp -r x/. y` puts what is in x directly into y.
    const whole =
      deep &&
      (has(given, '-T', '--no-target-directory') || sources.some((source) => /(^|\/)\.{0,2}$/.test(source)))
    const named = targets.flatMap((inside) =>
      sources.map((source) => ({
        path: `${inside}/${baseName(source.replace(/\/+$/, ''))}`,
        deep,
        inside,
      })),
    )
    return [...each(targets, moves || whole), ...named, ...each(moves ? sources : [], true)]
  }

/** Without `-e` the first operand is the script. What follows `-i` names a copy. */
const edited = (given: GivenOptions) =>
  has(given, '-i', '--in-place')
    ? [
        ...each(has(given, '-e', '--expression') ? given.operands : given.operands.slice(1), false),
        ...given.options.flatMap(({ name, value }) =>
          /^(-i|--in-place)$/.test(name) && value?.includes('/') ? [{ path: value, deep: false }] : [],
        ),
      ]
    : []

const changer = (list: string, changes: Changer['changes']): Changer => ({
  options: optionList(list),
  changes,
})

const OWNERSHIP = '-RvcfhLHP --recursive --verbose --changes --silent --quiet --no-dereference'

const CHANGERS: ReadonlyMap<string, Changer> = new Map([
  ['rm', changer('-rRfivdI --recursive --force --verbose --dir --interactive? --one-file-system', operands)],
  ['rmdir', changer('-pv --parents --verbose --ignore-fail-on-non-empty', operands)],
  ['mkdir', changer('-pv -m: --parents --mode= --verbose', operands)],
  ['touch', changer('-acmh -d: -t: -r: --date= --no-create --reference= --time=', operands)],
  ['truncate', changer('-co -s: -r: --size= --no-create --reference=', operands)],
  ['tee', changer('-ai --append --ignore-interrupts', operands)],
  ['shred', changer('-fuvzx -n: -s: --force --remove? --verbose --zero --iterations= --size=', operands)],
  ['unlink', changer('', operands)],
  ['mktemp', changer('-dqut --directory --quiet --dry-run --suffix=', operands)],
  ['chmod', changer(OWNERSHIP, afterFirst)],
  ['chown', changer(OWNERSHIP, afterFirst)],
  ['chgrp', changer(OWNERSHIP, afterFirst)],
  [
    'cp',
    changer(
      '-aRrpvfnuidLPHTx -t: --archive --recursive --verbose --force --no-clobber --update? --preserve? --target-directory= --no-target-directory',
      copies(false),
    ),
  ],
  [
    'mv',
    changer(
      '-vfnuiT -t: --verbose --force --no-clobber --update? --target-directory= --no-target-directory',
      copies(true),
    ),
  ],
  [
    'ln',
    changer(
      '-sfnvrTi -t: --symbolic --force --no-dereference --verbose --relative --target-directory=',
      copies(true),
    ),
  ],
  ['install', changer('-dpvDT -m: -o: -g: -t: --mode= --owner= --group= --target-directory=', copies(false))],
  ['sed', { options: SED_OPTIONS, changes: edited }],
])

const WRITING = new Set(['>', '>>', '>|', '&>', '&>>', '<>'])
const HARMLESS = /^\/dev\/(null|stdout|stderr|tty|full|zero|fd\/[0-2])$/

export function redirectedTo({ redirects }: PlainCommand): Change[] {
  return redirects.flatMap(({ op, path }) =>
    WRITING.has(op) && !HARMLESS.test(path) ? [{ path, deep: false }] : [],
  )
}

/** null: the program changes no files that its arguments name. */
export function changedFiles({ argv }: PlainCommand): ChangedFiles | null {
  const [program = '', ...args] = argv
  const name = baseName(program)
  if (name === 'git') return gitChanges(args)
  if (name === 'dd') return { changes: valuesOf(args, /^of=/), unsure: true }
  if (name === 'find' && args.includes('-delete'))
    return { changes: each(startPoints(args), true), unsure: true }
  const changer = CHANGERS.get(name)
  if (!changer) return null
  const given = givenOptions(args, changer.options)
  if (given)
    return { changes: changer.changes(given).filter(({ path }) => !HARMLESS.test(path)), unsure: false }
  // Taken generously: every word may be such a file.
  return {
    changes: each(
      args.filter((arg) => !arg.startsWith('-')),
      true,
    ),
    unsure: true,
  }
}

const valuesOf = (args: readonly string[], prefix: RegExp) =>
  args.flatMap((arg) => (prefix.test(arg) ? [{ path: arg.replace(prefix, ''), deep: false }] : []))

/** The directories in which `find` starts. */
function startPoints(args: readonly string[]): string[] {
  const first = args.findIndex((arg) => /^[-(!]/.test(arg) && !/^-([HLP]|O\d)$/.test(arg))
  const points = args.slice(0, first === -1 ? undefined : first).filter((arg) => !arg.startsWith('-'))
  return points.length > 0 ? points : ['.']
}
