/** The part of the store that is the change feed. */
import type { Kysely } from 'kysely'
import type { Tables } from '../base/schema.ts'
import type { Write } from '../base/transaction.ts'
import * as changes from './changes.ts'
import type { ChangePage } from './records.ts'

export interface ChangeStore {
  listChanges: (query: changes.ChangeQuery) => Promise<ChangePage>
  /**
   * Calls the listener with the newest number after each commit that changed something, in this process. A hint to look
   * with `listChanges`, which may be lost. Returns what ends it.
   */
  onChanges: (listener: (newest: number) => void) => () => void
  deleteChanges: (old: { before: Date; keep: number }) => Promise<number>
}

export class ChangeListeners {
  readonly #listeners = new Set<(newest: number) => void>()

  add(listener: (newest: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What a listener throws is its own affair: the change is stored. */
  tell(newest: number): void {
    for (const listener of this.#listeners) {
      try {
        listener(newest)
      } catch {}
    }
  }
}

export function createChangeStore(
  reader: Kysely<Tables>,
  write: Write,
  listeners: ChangeListeners,
): ChangeStore {
  return {
    listChanges: (query) => changes.listChanges(reader, query),
    onChanges: (listener) => listeners.add(listener),
    deleteChanges: (old) => write((tx) => changes.deleteChanges(tx, old)),
  }
}
