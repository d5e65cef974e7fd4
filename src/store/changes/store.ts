/** The store interface of the change feed. */
import type { Kysely } from 'kysely'
import type { Tables } from '../base/schema.ts'
import type { Write } from '../base/transaction.ts'
import * as changes from './changes.ts'
import type { ChangePage } from './records.ts'

export interface ChangeStore {
  listChanges: (query: changes.ChangeQuery) => Promise<ChangePage>
  /**
   * Calls the listener with the newest number after each commit of this process that changed something. The call is a
   * hint to use `listChanges` and may be lost. Returns a function that unsubscribes.
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

  /** Errors of a listener are ignored: the change is stored. */
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
