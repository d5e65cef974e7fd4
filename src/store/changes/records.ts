/** The records of the change feed. */
import type { ChangeKind } from '../../contract/change.ts'

export interface ChangeRecord {
  seq: number
  kind: ChangeKind
  /**
   * The id of what changed. For an approval: the run that waits for it. For a question: the run and the tool call,
   * separated by a slash. For an obstacle: account and model, separated by a slash.
   */
  id: string
  /** The state after the change; `deleted`: the object was deleted; null: this kind has no states. */
  state: string | null
  at: Date
}

export interface ChangePage {
  items: ChangeRecord[]
  /** The oldest number that is kept, and the newest one. If none is kept, `oldest` is the next number. */
  oldest: number
  newest: number
  /**
   * Changes after the requested number are not kept any more, or the number belongs to another database: the reader
   * must reload everything.
   */
  tooOld: boolean
}
