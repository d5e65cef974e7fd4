/** Which files a git command may change. */
import { type Field, literal } from './command.ts'
import type { FileChange } from './file-change.ts'
import { subCommand } from './observe.ts'
import { isOption, textsOf } from './options.ts'
import { pieces } from './pieces.ts'

/** Sub-commands that write nothing but what they are told to by `--output`; settings given with `-c` do not change that. */
const READING =
  /^(ls-files|ls-tree|ls-remote|rev-parse|rev-list|status|log|show|diff|cat-file|check-ignore|check-attr|for-each-ref|merge-base|describe|blame|grep|count-objects|name-rev|shortlog)$/

/** Sub-commands that change no file of the work tree, nor one that they are given the name of. */
const KEPT = /^(commit|fetch|tag|branch|notes|gc|reflog|prune|maintenance|fsck|)$/

/** They write to what they are given the name of, and leave the rest of the work tree as it is. */
const NAMED =
  /^(add|archive|bundle|clone|init|worktree|hash-object|update-ref|symbolic-ref|update-index|write-tree|format-patch|repack|push|remote|rm|mv)$/

/** Their words are files. */
const BY_FILES = /^(restore|clean)$/

export function gitChangedFiles(args: readonly Field[]): FileChange[] {
  const [name = '', ...operands] = subCommand('git', args)
  if (READING.test(name)) return values(args, /^--o\w*$/, /^--o\w*=(.*)$/s).map(file)
  const places = values(args, /^(-C|--work-tree|--git-dir)$/, /^--(?:work-tree|git-dir)=(.*)$/s)
  if (name === 'config')
    return [...places, ...values(args, /^(-f|--file)$/, /^(?:-f|--file=)(.+)$/s)].map(file)
  if (KEPT.test(name) || (name === 'stash' && /^(list|show|drop|clear)$/.test(operands[0] ?? '')))
    return places.map(file)
  const words = args.filter(({ text }) => operands.includes(text)).map(withoutScheme)
  const files = [...words, ...words.flatMap((word) => places.map((place) => below(place, word)))].map(
    (target) => ({ target, deep: name === 'mv' || name === 'rm' }),
  )
  const given = args.filter(({ text }) => isOption(text)).flatMap(pieces)
  files.push(...given.map((target) => ({ target, deep: true })))
  if (NAMED.test(name)) return [...places.map(file), ...files]
  const trees = (places.length > 0 ? places : [literal('.')]).map((target) => ({
    target,
    deep: treeChanges(name, args),
    tree: true as const,
  }))
  return [...trees, ...files]
}

/** Whether files may be changed that the command does not name. */
function treeChanges(name: string, args: readonly Field[]): boolean {
  const after = args.slice(args.findIndex(({ text }) => text === name) + 1)
  const words = after.filter(({ text }) => !isOption(text))
  const options = textsOf(after).filter(isOption)
  const dashes = args.findIndex(({ text }) => text === '--')
  const files = dashes === -1 ? (BY_FILES.test(name) ? words : []) : args.slice(dashes + 1)
  if (files.length > 0)
    return files.some(({ text, unknown }) => unknown || /^\.?\/?$|[*?[:]|\.\.|^-/.test(text))
  switch (name) {
    case 'checkout':
    case 'switch':
      // A new branch where we are.
      return !(
        options.every((option) => /^(-[bBcCq]|--create|--quiet|--no-track)$/.test(option)) &&
        options.some((option) => /^(-[bBcC]|--create)$/.test(option)) &&
        words.length === 1
      )
    case 'reset':
      return options.some((option) => /^--(h|m|k)/.test(option) && option !== '--mixed')
    case 'clean':
      return !options.some((option) => /^-[a-zA-Z]*n|^--dry/.test(option))
    case 'apply':
      return (
        !options.some((option) => /^--(check|stat|numstat|summary)$/.test(option)) ||
        options.includes('--apply')
      )
    default:
      return true
  }
}

/** A repository on this machine. */
const withoutScheme = (word: Field): Field =>
  word.text.startsWith('file://') ? { ...word, text: word.text.slice(7) } : word

const file = (target: Field): FileChange => ({ target, deep: false })

const below = (place: Field, word: Field): Field => ({ ...word, text: `${place.text}/${word.text}` })

/** What options are given, as the next word or in the same one. */
function values(args: readonly Field[], alone: RegExp, joined: RegExp): Field[] {
  return args.flatMap((arg, index) => {
    const [, value] = joined.exec(arg.text) ?? []
    if (value !== undefined) return { ...arg, text: value }
    return alone.test(arg.text) ? (args[index + 1] ?? []) : []
  })
}
