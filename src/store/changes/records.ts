/** The change feed, as it is read. */
import type { ChangeKind } from '../../contract/change.ts'

export interface ChangeRecord {
  seq: number
  kind: ChangeKind
  /**
   * The id of what changed. Of an approval: the run that waits for it. Of a question: the run and the tool call, with a
   * slash between them. Of an obstacle: account and model, with a slash between them.
   */
  id: string
  /** As it is after the change; `deleted`: it is gone; null: this kind has no states. */
  state: string | null
  at: Date
}

export interface ChangePage {
  items: ChangeRecord[]
  /** The oldest number that is kept, and the newest there is. Where none is kept, `oldest` is the next one. */
  oldest: number
  newest: number
  /** Changes after the asked number are not kept any more, or it is of another database: load everything anew. */
  tooOld: boolean
}
