/** Which files a command may change, as far as its arguments say. */
import { baseName, type Field, literal, type SimpleCommand } from './command.ts'
import { subCommand } from './observe.ts'
import { isOption, textsOf } from './options.ts'

export interface Write {
  target: Field
  /** Everything below may be changed too. */
  deep: boolean
}

const HARMLESS = /^\/dev\/(null|stdout|stderr|tty|fd\/.*|full|zero)$/

/** What its output, or that of what encloses it, is written to. */
export function redirectedTo({ redirects }: SimpleCommand): Field[] {
  return redirects.flatMap(({ writes, target }) => (writes && !HARMLESS.test(target.text) ? target : []))
}

/**
 * A command that only looks writes to where it is redirected, if anywhere. `isDirectory` says whether a field may be a
 * directory that is there: what is copied to it lands inside.
 */
export function writesOf(
  command: SimpleCommand,
  looks: boolean,
  isDirectory: (field: Field) => boolean,
): Write[] {
  const redirected = redirectedTo(command).map((target) => ({ target, deep: false }))
  const name = command.words[0]
  if (!name || looks) return redirected
  const targets = targetsOf(baseName(name.text), command.words.slice(1), isDirectory)
  return [...redirected, ...targets.filter(({ target }) => !HARMLESS.test(target.text))]
}

function targetsOf(program: string, args: readonly Field[], isDirectory: (field: Field) => boolean): Write[] {
  const operands = args.filter(({ text }) => !isOption(text))
  const all = (deep: boolean) => operands.map((target) => ({ target, deep }))
  const recursive = args.some(({ text }) => /^-[a-zA-Z]*[rR]/.test(text) || text.startsWith('--rec'))
  switch (program) {
    case 'tee':
    case 'touch':
      return all(false)
    case 'rm':
    case 'chmod':
    case 'chown':
    case 'chgrp':
      return all(recursive)
    case 'mv': {
      const last = operands.at(-1)
      const below =
        !last || !isDirectory(last)
          ? []
          : operands
              .slice(0, -1)
              .map((source) => ({ ...source, text: `${last.text}/${baseName(source.text)}` }))
      return [...all(true), ...below.map((target) => ({ target, deep: false }))]
    }
    case 'cp':
    case 'rsync':
    case 'scp':
    case 'install': {
      const into = args.flatMap(({ text, ...flags }, index) => {
        if (/^(-t|--target-directory)$/.test(text)) return args[index + 1] ?? []
        return text.startsWith('--target-directory=') ? { ...flags, text: text.slice(19) } : []
      })
      const last = operands.at(-1)
      const targets = into.length > 0 ? into : last ? [last] : []
      const deep = recursive || program === 'rsync' || args.some(({ text }) => /^-[a-zA-Z]*a/.test(text))
      const below = targets.filter(isDirectory).flatMap((target) =>
        (into.length > 0 ? operands : operands.slice(0, -1)).map((source) => ({
          ...source,
          text: `${target.text}/${baseName(source.text)}`,
        })),
      )
      const removed =
        program === 'rsync' && args.some(({ text }) => text.startsWith('--remove-s')) ? all(true) : []
      return [
        ...targets.map((target) => ({ target, deep: deep && program === 'rsync' })),
        ...below.map((target) => ({ target, deep: false })),
        ...removed,
      ]
    }
    case 'dd':
      return args
        .filter(({ text }) => text.startsWith('of='))
        .map((arg) => ({ target: { ...arg, text: arg.text.slice(3) }, deep: false }))
    case 'find':
      return args.some(({ text }) => /^-(delete|fprint.*|fls)$/.test(text)) ? all(true) : []
    case 'git':
      return gitTargets(args)
    case 'docker':
    case 'podman':
    case 'docker-compose':
      return mounts(args)
    case 'tar':
      if (
        args.some(({ text }, index) => (index === 0 && /^-?\w*c/.test(text)) || text === '--create') &&
        !args.some(({ text }) => text.startsWith('--rem'))
      ) {
        return args.flatMap(({ text }, index) =>
          /^-?\w*f$/.test(text) || text === '--file'
            ? [{ target: args[index + 1] ?? literal('-'), deep: false }]
            : [],
        )
      }
  }
  // Not known to only read: every word that is a path may be written to, also the values of options.
  return args.flatMap((arg) => [
    ...(isOption(arg.text) ? [] : [{ target: arg, deep: true }]),
    ...pieces(arg).map((target) => ({ target, deep: true })),
  ])
}

/** `--output=/x`, `-o/x`, `a:/x`. */
function pieces(arg: Field): Field[] {
  const [, value] = /^-+[\w-]*[=:]?((?:\/|~|\.\.?\/).*)$/s.exec(arg.text) ?? []
  const parts = value === undefined ? arg.text.split(/[=:,]/).slice(1) : [value]
  return parts.filter((part) => part.includes('/') || part.includes('.')).map((text) => ({ ...arg, text }))
}

/** A directory given to a container can be changed from inside, unless it is given read-only. */
function mounts(args: readonly Field[]): Write[] {
  return args
    .flatMap((arg, index) => {
      const { text } = arg
      const before = args[index - 1]?.text ?? ''
      const volume = /^(-v|--volume)$/.test(before) ? text : /^(-v|--volume=)([/~.].*)$/.exec(text)?.[2]
      const mount = before === '--mount' ? text : /^--mount=(.*)$/.exec(text)?.[1]
      if (volume !== undefined) {
        const [source = '', , mode = ''] = volume.split(':')
        return /(^|,)ro(,|$)/.test(mode) || !volume.includes(':')
          ? []
          : [{ target: { ...arg, text: source }, deep: true }]
      }
      const source = mount && /(?:^|,)(?:source|src)=([^,]*)/.exec(mount)?.[1]
      if (!source || /(^|,)(readonly|ro)(=true|=1)?(,|$)/.test(mount)) return []
      return [{ target: { ...arg, text: source }, deep: true }]
    })
    .concat(
      // `docker cp x container:/y` writes there, `docker cp container:/y x` here.
      subCommand('docker', textsOf(args))[0] === 'cp'
        ? args.slice(-1).map((target) => ({ target, deep: true }))
        : [],
    )
}

/** Sub-commands that do not change the work tree. */
const TREE_KEPT = /^(add|commit|push|fetch|config|branch|tag|remote|gc|notes|archive|bundle|stash|)$/

/** Sub-commands that write nothing but what they are told to by `--output`; settings given with `-c` do not change that. */
const READING =
  /^(ls-files|ls-tree|ls-remote|rev-parse|rev-list|status|log|show|diff|cat-file|check-ignore|check-attr|for-each-ref|merge-base|describe|blame|grep|count-objects|name-rev|shortlog)$/

function gitTargets(args: readonly Field[]): Write[] {
  const texts = textsOf(args)
  const [name = '', ...operands] = subCommand('git', texts)
  if (READING.test(name)) {
    return args.flatMap((arg, index) => {
      const [, value] = /^--o\w*=(.*)$/s.exec(arg.text) ?? []
      if (value !== undefined) return [{ target: { ...arg, text: value }, deep: false }]
      const next = /^--o\w*$/.test(arg.text) ? args[index + 1] : undefined
      return next ? [{ target: next, deep: false }] : []
    })
  }
  const places = args.flatMap((arg, index) => {
    if (/^(-C|--work-tree|--git-dir)$/.test(arg.text)) return args[index + 1] ?? []
    const [, value] = /^--(?:work-tree|git-dir)=(.*)$/.exec(arg.text) ?? []
    return value === undefined ? [] : { ...arg, text: value }
  })
  const trees: Write[] = TREE_KEPT.test(name)
    ? []
    : [...places, literal('.')].map((target) => ({ target, deep: false }))
  if (/^(commit|push|fetch|tag|branch|config|remote|stash|notes)$/.test(name))
    return places.map((target) => ({ target, deep: false }))
  const files = args.filter(({ text }) => operands.includes(text))
  const below = files.flatMap((file) =>
    places.map((place) => ({ ...file, text: `${place.text}/${file.text}` })),
  )
  return [...trees, ...[...files, ...below].map((target) => ({ target, deep: false }))]
}
