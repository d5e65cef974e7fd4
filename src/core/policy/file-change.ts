import type { Field } from './command.ts'

/** A file that a command may change. */
export interface FileChange {
  target: Field
  /** Everything below may be changed too. */
  deep: boolean
  /** It is a file that is written, not merely a word that may name one. */
  sure?: true
  /** Files of the work tree that it is in, whichever. */
  tree?: true
}
