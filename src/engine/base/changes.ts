/** The public view of the store's change feed. */
import type { Change, ChangeKind } from '../../contract/change.ts'

/** Committed changes, numbered in commit order. They are kept for a limited time. */
export interface Changes {
  /**
   * Changes after the number `after`, oldest first. `tooOld` means that some changes after that number were deleted, so
   * the reader must reload everything and continue after `newest`. If no change is kept, `oldest` is the next number.
   */
  listChanges: (query: { after: number; limit: number }) => Promise<{
    items: Change[]
    oldest: number
    newest: number
    tooOld: boolean
  }>
  /** Calls the listener after changes were committed. This is only a hint: listeners read at their own pace. */
  onChanges: (listener: () => void) => () => void
}

/** The part of the store that provides the change feed. */
export interface StoredChanges {
  listChanges: (query: { after: number; limit: number }) => Promise<{
    items: readonly { seq: number; kind: ChangeKind; id: string; state: string | null; at: Date }[]
    oldest: number
    newest: number
    tooOld: boolean
  }>
  onChanges: Changes['onChanges']
}

export function describeChanges(store: StoredChanges): Changes {
  return {
    listChanges: async (query) => {
      const { items, ...numbers } = await store.listChanges(query)
      return {
        items: items.map((change): Change => ({ ...change, at: change.at.toISOString() })),
        ...numbers,
      }
    },
    onChanges: (listener) => store.onChanges(listener),
  }
}
