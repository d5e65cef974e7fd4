/** The tree of commands, and mistyped subcommands in it. */
import type { Command } from 'commander'
import { nearestWord } from '../../config/nearest-word.ts'
import { usageError } from './usage-error.ts'

/** Builds the tree of commands, in which the one that the words name is complete. */
export type TreeFor = (words: readonly string[]) => Promise<Command>

/**
 * For a default subcommand: an argument is a mistyped subcommand, and commander would only say that there are too many
 * arguments.
 */
export function refuseWords(command: Command): void {
  const [word] = command.args
  if (word === undefined) return
  const parent = command.parent
  const known = parent?.commands.map((sibling) => sibling.name()) ?? []
  const near = nearestWord(word, known)
  throw usageError(
    `unknown command ${JSON.stringify(`${parent?.name()} ${word}`)}`,
    near ? `Did you mean ${parent?.name()} ${near}?` : `Expected one of: ${known.join(', ')}`,
  )
}
