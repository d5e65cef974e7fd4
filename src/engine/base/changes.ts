/** The change feed of the store as the outside sees it. */
import type { Change, ChangeKind } from '../../contract/change.ts'

/** What changed, numbered in the order of commits. Changes are kept for a while only. */
export interface Changes {
  /**
   * Changes after the number `after`, oldest first. `tooOld`: changes after that number are not kept any more, so the
   * reader must load anew and continue after `newest`. If none is kept, `oldest` is the next number.
   */
  listChanges: (query: { after: number; limit: number }) => Promise<{
    items: Change[]
    oldest: number
    newest: number
    tooOld: boolean
  }>
  /** Calls back after changes were committed. Only a hint: listeners read at their own pace. */
  onChanges: (listener: () => void) => () => void
}

/** The part of the store that this needs. */
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
