/** Which files a command may change, as far as its arguments say. */
import { baseName, type Field, literal, type SimpleCommand } from './command.ts'
import type { FileChange } from './file-change.ts'
import { gitChangedFiles } from './git-changed-files.ts'
import { subCommand } from './observe.ts'
import { abbreviates, isOption } from './options.ts'
import { pieces } from './pieces.ts'
import { readSed } from './sed.ts'
import { APART, isProse } from './spoken.ts'
import { startPoints } from './starts/find.ts'

const HARMLESS = /^\/dev\/(null|stdout|stderr|tty|fd\/[^/]+|full|zero)$/

/** What its output, or that of what encloses it, is written to. */
export function redirectedTo({ redirects }: SimpleCommand): Field[] {
  return redirects.flatMap(({ writes, target }) => (writes && !isHarmless(target.text) ? target : []))
}

/**
 * A command that only looks writes to where it is redirected, if anywhere. `isDirectory` says whether a field may be a
 * directory that is there: what is copied to it lands inside.
 */
export function changedFiles(
  command: SimpleCommand,
  looks: boolean,
  isDirectory: (field: Field) => boolean,
): FileChange[] {
  const { words, program, args, redirects } = command
  const changes: FileChange[] = []
  if (redirects.length > 0)
    for (const target of redirectedTo(command)) changes.push({ target, deep: false, sure: true })
  if (words.length === 0 || looks) return changes
  const targetsOf = TARGETS.get(program)
  for (const change of targetsOf ? targetsOf(args, isDirectory) : anyWord(program, args))
    if (!isHarmless(change.target.text)) changes.push(change)
  return changes
}

const isHarmless = (text: string) => text.startsWith('/dev/') && HARMLESS.test(text)

type Targets = (args: readonly Field[], isDirectory: (field: Field) => boolean) => FileChange[]

const operands =
  (deep: (args: readonly Field[]) => boolean): Targets =>
  (args) => {
    const isDeep = deep(args)
    return operandsOf(args).map((target) => ({ target, deep: isDeep, sure: true }))
  }

const isRecursive = (args: readonly Field[]) =>
  args.some(({ text }) => /^-[a-zA-Z]*[rR]/.test(text) || abbreviates(text, '--recursive'))

const each = (names: string, targets: (program: string) => Targets) =>
  names.split(' ').map((program) => [program, targets(program)] as const)

const onlyNamed = operands(() => false)
const wholeTrees = operands(() => true)
const maybeTrees = operands(isRecursive)

/** By program. Of the others, every word may be a file that is written to. */
const TARGETS: ReadonlyMap<string, Targets> = new Map<string, Targets>([
  ...each('tee touch mkdir truncate', () => onlyNamed),
  ...each('source . systemctl systemd-analyze', () => () => []),
  ...each('rm chmod chown chgrp', () => maybeTrees),
  ...each(
    'mv cp rsync scp install ln',
    (program) => (args, isDirectory) => copied(program, args, isDirectory),
  ),
  ...each('docker podman podman-remote nerdctl docker-compose podman-compose', () => mounts),
  ...each('tar bsdtar unzip patch cpio', unpacked),
  ['rmdir', wholeTrees],
  ['sed', sedTargets],
  ['git', gitChangedFiles],
  [
    'dd',
    (args) =>
      args
        .filter(({ text }) => text.startsWith('of='))
        .map((arg) => ({ target: { ...arg, text: arg.text.slice(3) }, deep: false, sure: true })),
  ],
  ['find', foundTargets],
])

/** Where it begins, and what is named besides: a file it writes, or one that it looks for. */
function foundTargets(args: readonly Field[]): FileChange[] {
  if (!args.some(({ text }) => /^-(delete|fprint.*|fls)$/.test(text))) return []
  const points = startPoints(args)
  const others = operandsOf(args).filter((operand) => !points.includes(operand))
  const written = others.filter((other) => /^-f(print.*|ls)$/.test(args[args.indexOf(other) - 1]?.text ?? ''))
  return [
    ...[...points, ...written].map((target) => ({ target, deep: true, sure: true as const })),
    ...others.map((target) => ({ target, deep: true })),
  ]
}

function sedTargets(args: readonly Field[]): FileChange[] {
  const { understood, inPlace, files, written } = readSed(args)
  const targets = [...(inPlace ? files : []), ...written.map(literal)].map((target) => ({
    target,
    deep: false,
    sure: true as const,
  }))
  return understood ? targets : [...targets, ...anyWord('sed', args)]
}

/** What they write, another file says. */
function unpacked(program: string): Targets {
  return (args) => {
    if (program === 'tar' && packs(args)) {
      return args.flatMap(({ text }, index) =>
        /^-?\w*f$/.test(text) || text === '--file'
          ? [{ target: args[index + 1] ?? literal('-'), deep: false }]
          : [],
      )
    }
    const here = !args.some(({ text }) => /^(-C|-d|--directory.*)/.test(text))
    return here ? [{ target: literal('.'), deep: true }, ...anyWord(program, args)] : anyWord(program, args)
  }
}

/** `tar c…`, without taking away what is packed. */
const packs = (args: readonly Field[]) =>
  args.some(({ text }, index) => (index === 0 && /^-?\w*c/.test(text)) || text === '--create') &&
  !args.some(({ text }) => text.startsWith('--rem'))

/** Not known to only read: every word that is a path may be written to, also the values of options. */
function anyWord(program: string, args: readonly Field[]): FileChange[] {
  const changes: FileChange[] = []
  for (let index = READS_SCRIPT.test(program) && isScript(args[0]) ? 1 : 0; index < args.length; index++) {
    const arg = args[index] as Field
    if (!isOption(arg.text)) changes.push({ target: arg, deep: true })
    for (const target of pieces(arg)) changes.push({ target, deep: true })
    if (arg.text.includes('/') && /\s\S/.test(arg.text) && !isProse(program, args, index))
      changes.push(...spokenPaths(arg))
  }
  return changes
}

/** What they are given first is the program that they run. */
const READS_SCRIPT = /^(python[\d.]*|perl|ruby|node|nodejs|php|lua|Rscript|sh|bash|dash|zsh)$/
const isScript = (first: Field | undefined) => !!first && !first.unknown && !isOption(first.text)

/** Paths in what may be a text for the program: `.output /x`. */
function spokenPaths(arg: Field): FileChange[] {
  return arg.text
    .split(APART)
    .flatMap((text) => (text.startsWith('/') ? { target: { ...arg, text }, deep: true } : []))
}

const operandsOf = (args: readonly Field[]) => {
  const dashes = args.findIndex(({ text }) => text === '--')
  return dashes === -1
    ? args.filter(({ text }) => !isOption(text))
    : [...args.slice(0, dashes).filter(({ text }) => !isOption(text)), ...args.slice(dashes + 1)]
}

/** Of `cp` and what is like it. What is moved or gets a second name counts as changed too. */
function copied(
  program: string,
  args: readonly Field[],
  isDirectory: (field: Field) => boolean,
): FileChange[] {
  const operands = operandsOf(args)
  const options = args.filter(({ text }) => isOption(text) || text.startsWith('='))
  const has = (short: RegExp, long: string) =>
    options.some(({ text }) => short.test(text) || abbreviates(text.split('=', 1)[0] ?? '', long))
  const remote = program === 'rsync' || program === 'scp'
  const into = remote ? [] : targetDirectories(args)
  const last = operands.at(-1)
  const targets = into.length > 0 ? into : last ? [last] : []
  const makes = program === 'install' && has(/^-[a-zA-Z]*d/, '--directory')
  const sources = into.length > 0 || makes ? operands : operands.slice(0, -1)
  const moves = program === 'mv' || program === 'ln'
  const deep =
    moves || program === 'rsync' || has(/^-[a-zA-Z]*[rRa]/, '--recursive') || has(/^-a/, '--archive')
  const whole =
    has(/^-[a-zA-Z]*T/, '--no-target-directory') || sources.some(({ text }) => /(^|\/)\.{0,2}$/.test(text))
  const parents = program === 'cp' && has(/^--par/, '--parents')
  const below = targets
    .filter((target) => into.length > 0 || isDirectory(target))
    .flatMap((target) =>
      sources.map((source) => ({
        ...source,
        ...(target.unknown && { unknown: target.unknown }),
        text: `${target.text}/${parents ? source.text : nameOf(source.text, remote)}`,
      })),
    )
  const linked = program === 'cp' && has(/^-[a-zA-Z]*[ls]/, '--link')
  const removed = program === 'rsync' && args.some(({ text }) => text.startsWith('--remove-s'))
  const compared = args.flatMap((arg) =>
    arg.text.startsWith('--link-dest=') ? { ...arg, text: arg.text.slice(12) } : [],
  )
  const changed = [...(moves || linked || removed || makes ? sources : []), ...compared]
  return [
    ...targets.map((target) => ({
      target,
      deep: deep && (moves || program === 'rsync' || whole || !isDirectory(target)),
      sure: true as const,
    })),
    ...below.map((target) => ({ target, deep })),
    // What a link leads to may be anywhere, and it is no file that is changed now.
    ...changed.map((target) => ({ target, deep: true, ...(program !== 'ln' && { sure: true as const }) })),
  ]
}

/** Under which name it lands: `host:x/` is `x`. */
const nameOf = (text: string, remote: boolean) =>
  baseName((remote ? text.replace(/^[^/]*:/, '') : text).replace(/\/+$/, ''))

/** `-t x`, `-tx`, `-rt x`, `--target-directory=x`. */
function targetDirectories(args: readonly Field[]): Field[] {
  return args.flatMap((arg, index) => {
    const found =
      isOption(arg.text) && /^(?:-[abcCdDfFiHlLnPpRrsTuvxZ]*t(.*)|--t[a-z-]*(?:=(.*))?)$/s.exec(arg.text)
    if (!found) return []
    const value = found[1] || found[2]
    return value ? { ...arg, text: value } : (args[index + 1] ?? [])
  })
}

/** A directory given to a container can be changed from inside, unless it is given read-only. */
function mounts(args: readonly Field[]): FileChange[] {
  const sub = subCommand('docker', args)
  const all = args.flatMap((arg, index): FileChange[] => {
    const { text } = arg
    const before = args[index - 1]?.text ?? ''
    if (!isOption(text) && !isOption(before) && !text.includes('=')) return []
    const named = (source: string): FileChange => ({
      target: { ...arg, text: source },
      deep: true,
      sure: true,
    })
    const volume = /^(-[a-zA-Z]*v|--volume)$/.test(before)
      ? text
      : /^(?:-[a-zA-Z]*v=?|--volume=)([/~.].*)$/s.exec(text)?.[1]
    if (volume !== undefined) {
      const [source = '', , mode = ''] = volume.split(':')
      return /(^|,)ro(,|$)/.test(mode) || !volume.includes(':') ? [] : [named(source)]
    }
    const mount = (before === '--mount' ? text : /^--mount=(.*)$/s.exec(text)?.[1])?.replaceAll('"', '')
    const source = mount && /(?:^|,)(?:source|src)=([^,]*)/.exec(mount)?.[1]
    if (source) return /(^|,)(readonly|ro)(=true|=1)?(,|$)/.test(mount) ? [] : [named(source)]
    // A volume may be a directory, and what is built or saved is written here.
    const place =
      /(?:^|[,=])(?:device|dest)=([^,]*)/.exec(text)?.[1] ??
      (/^(-o|--output|--cidfile|--iidfile|--metadata-file)$/.test(before) ? text : undefined) ??
      /^(?:-o|--(?:output|cidfile|iidfile|metadata-file)=)(.+)$/s.exec(text)?.[1]
    return place ? [named(place)] : []
  })
  // `docker cp x container:/y` writes there, `docker cp container:/y x` here.
  return sub[0] === 'cp' ? [...all, ...args.slice(-1).map((target) => ({ target, deep: true }))] : all
}
