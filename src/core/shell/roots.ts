/** Recursive deletion, or worse, of what everything else lies in: `/`, what is directly below it, home directories. */
import type { Refusal } from '../rules/call.ts'
import { changedFiles } from './changes.ts'
import { type PathFacts, placesOf } from './paths.ts'
import { baseName, type PlainCommand, showCommand } from './reading.ts'

const DELETING = /^(rm|chmod|chown|chgrp|mv|shred|find|rsync)$/

/** `start` is the directory in which the text starts. */
export function rootRefusal(command: PlainCommand, start: string, facts: PathFacts): Refusal | undefined {
  const why = rootDeletion(command, start, facts)
  if (why === undefined) return undefined
  return { reason: `\`${showCommand(command)}\` may never run: ${why}.`, rule: 'root-deletion' }
}

function rootDeletion(command: PlainCommand, start: string, facts: PathFacts): string | undefined {
  const [program = '', ...args] = command.argv
  const name = baseName(program)
  if (/^(mkfs(\..*)?|wipefs)$/.test(name) && args.some((arg) => !arg.startsWith('-')))
    return 'it erases a file system'
  if (name === 'dd' && args.some((arg) => /^of=\/dev\/(sd|nvme|vd|xvd|mmcblk|mapper)/.test(arg)))
    return 'it overwrites a disk'
  if (!DELETING.test(name)) return undefined
  if (args.some((arg) => arg.startsWith('--n') && '--no-preserve-root'.startsWith(arg)))
    return '--no-preserve-root is for deleting everything'
  for (const path of deletedBy(name, command, args)) {
    const root = placesOf(path, command.cwds, start, facts).find((place) => isRoot(place, facts))
    if (root !== undefined) return `it deletes recursively ${root}, which everything else lies in`
  }
  return undefined
}

function deletedBy(name: string, command: PlainCommand, args: readonly string[]): string[] {
  if (name === 'rsync') return args.some((arg) => arg.startsWith('--del')) ? args.slice(-1) : []
  const { changes = [] } = changedFiles(command) ?? {}
  // What a move makes is not deleted; what it takes away is an argument.
  return changes.flatMap(({ path, deep }) =>
    (deep && args.includes(path)) || name === 'shred' ? [path] : [],
  )
}

/** A name that stands for nearly every other. */
const ANY_NAME = /^(?=.*[*?[])([*?.]|\[[^\]]*\])+$/

/** Everything inside /tmp may go, /tmp itself may not. */
function isRoot(place: string, { home, realPath }: PathFacts): boolean {
  const names = place.split('/').slice(1)
  while (ANY_NAME.test(names.at(-1) ?? '')) names.pop()
  const whole = `/${names.join('/')}`
  if (whole === '/tmp' && whole !== place) return false
  const [first, , third] = names
  return (
    names.length < 2 ||
    (third === undefined && /^(home|Users)$/.test(first ?? '')) ||
    [home, realPath(home)].includes(whole)
  )
}
