/** The tables of the change feed. */
import type { ChangeKind } from '../../contract/change.ts'

export interface ChangesTable {
  seq: number
  kind: ChangeKind
  id: string
  state: string | null
  at: number
}

/** One row with the newest number. */
export interface ChangeCounterTable {
  id: number
  newest: number
}

/** The rows that the current transaction has changed. Temporary; triggers fill it. */
export interface ChangedTable {
  kind: ChangeKind
  id: string
  state: string | null
}

declare module '../base/schema.ts' {
  interface Tables {
    changes: ChangesTable
    change_counter: ChangeCounterTable
    changed: ChangedTable
  }
}
