/** Recursive deletion, or worse, of what everything else lies in: `/`, what is right below it, home directories. */
import { type Field, literal, type SimpleCommand, type Surroundings, UNKNOWN } from './command.ts'
import { abbreviates, isOption } from './options.ts'
import { pathsOf } from './paths.ts'
import { startPoints } from './starts/find.ts'

/** Why the command must not run, or nothing. */
export function rootDeletion(command: SimpleCommand, surroundings: Surroundings): string | undefined {
  const { program, args } = command
  const name = command.words[0]
  if (!name) return undefined
  const dynamic = !!name.unknown || !!name.glob
  if (!dynamic && !DELETERS.has(program) && !program.startsWith('mkfs.')) return undefined
  const targets = deletedBy(program, dynamic, args)
  if (!targets) return undefined
  if (args.some(({ text }) => abbreviates(text, '--no-preserve-root'))) {
    return '--no-preserve-root is for deleting everything'
  }
  for (const target of targets) {
    if (target.unknown === 'many' || leadsAnywhere(target)) {
      return `it deletes recursively what only the running shell knows (${shown(target)}): write the path out`
    }
    const paths = pathsOf(target, command.cwds, surroundings)
    const root = paths.find((path) => isRoot(path, target, surroundings))
    if (root) return `it deletes recursively ${root.replaceAll(UNKNOWN, '…')}, which everything else lies in`
  }
  return undefined
}

/** `$X/y` is `/y` when X is empty. */
const leadsAnywhere = ({ text, local, tame }: Field) =>
  text === UNKNOWN ? tame !== 'made' : text.startsWith(UNKNOWN) && !local && (!tame || tame === 'place')

const DELETERS = new Set(
  'rm chmod chown chgrp shred wipe srm unlink truncate mv find rsync tar zip mkfs wipefs dd'.split(' '),
)

function deletedBy(program: string, dynamic: boolean, args: readonly Field[]): Field[] | undefined {
  const operands = args.filter(({ text, unknown }) => !isOption(text) || unknown)
  const recursive = args.some(({ text }) => /^-[a-zA-Z]*[rR]/.test(text) || abbreviates(text, '--recursive'))
  switch (dynamic && recursive ? 'rm' : program) {
    case 'rm':
    case 'chmod':
    case 'chown':
    case 'chgrp': {
      const deleted = program === 'rm' || dynamic ? operands : operands.slice(1)
      return recursive ? deleted : deleted.filter(({ each }) => each)
    }
    case 'unlink':
    case 'truncate':
      return operands.filter(({ each }) => each)
    case 'shred':
    case 'wipe':
    case 'srm':
      return operands
    case 'mv':
      return operands.slice(0, -1).filter(({ unknown, each }) => !unknown || each)
    case 'find':
      return args.some(({ text }) => text === '-delete') ? startPoints(args) : undefined
    case 'rsync':
      if (args.some(({ text }) => text.startsWith('--remove-s'))) return operands
      return args.some(({ text }) => text.startsWith('--del')) ? operands.slice(-1) : undefined
    case 'tar':
      return args.some(({ text }) => text.startsWith('--rem')) ? packed(args, operands) : undefined
    case 'zip':
      return args.some(({ text }) => /^(-[a-zA-Z]*m|--mo)/.test(text)) ? operands : undefined
    case 'mkfs':
    case 'wipefs':
      return operands.length > 0 ? [literal('/')] : undefined
    case 'dd':
      return args.some(({ text }) => /^of=\/dev\/(sd|nvme|vd|xvd|mmcblk|mapper)/.test(text))
        ? [literal('/')]
        : undefined
    default:
      return program.startsWith('mkfs.') ? [literal('/')] : undefined
  }
}

/** Last parts of a path that stand for nearly every name: nothing in them is written out. */
const ANY_NAMES = /(\/(?=[^/]*[*?[])([*?.]|\[\]?[^\]/]*\])+)+$/

/** What `tar` takes, also from where `-C` sends it. */
function packed(args: readonly Field[], operands: readonly Field[]): Field[] {
  const places = args.flatMap((arg, index) => {
    if (/^(-\w*C|--dir[a-z]*)$/.test(arg.text)) return args[index + 1] ?? []
    const [, place] = /^(?:-C|--dir[a-z]*=)(.+)$/s.exec(arg.text) ?? []
    return place === undefined ? [] : { ...arg, text: place }
  })
  const named = operands.filter((operand) => !places.includes(operand))
  const below = named.flatMap((operand) =>
    operand.text.startsWith('/')
      ? []
      : places.map(({ text }) => ({ ...operand, text: `${text}/${operand.text}` })),
  )
  return [...named, ...below]
}

/** `/`, `/x`, `/*`, a home, all homes; and what is in one of them, by `*`. */
function isRoot(path: string, field: Field, { home, realpath }: Surroundings): boolean {
  const whole = field.each
    ? path.replace(/\/\0$/, '') || '/'
    : field.glob
      ? path.replace(ANY_NAMES, '') || '/'
      : path
  if (whole === '/' || /^\/[^/]+$/.test(whole)) {
    // Everything inside /tmp may go, /tmp itself may not.
    return !(whole !== path && whole === '/tmp')
  }
  if (whole === home || whole === realpath(home)) return true
  if (/^\/(home|Users)\/[^/]+$/.test(whole)) return true
  // `/x/$Y` is `/x` when Y is empty.
  if (!field.unknown || !path.includes(UNKNOWN)) return false
  const emptied = path.replaceAll(UNKNOWN, '').replace(/\/+$/, '') || '/'
  return (!field.tame || field.tame === 'place') && (/^(\/[^/]*)?$/.test(emptied) || emptied === home)
}

const shown = ({ text }: Field) => text.replaceAll(UNKNOWN, '…')
