/** The change feed of a store, in memory: numbered from 1, of which the oldest can be dropped. */
import { describeChanges, type StoredChanges } from '../../src/engine/base/changes.ts'

type StoredChange = Awaited<ReturnType<StoredChanges['listChanges']>>['items'][number]

export interface ChangeDouble extends ReturnType<typeof describeChanges> {
  add: (...changes: Pick<StoredChange, 'kind' | 'id' | 'state'>[]) => void
  /** Keeps only the newest. */
  keep: (count: number) => void
  listeners: () => number
  /** How often the store was read. */
  readings: () => number
}

export function createChangeDouble(): ChangeDouble {
  let kept: StoredChange[] = []
  let newest = 0
  let readings = 0
  const listeners = new Set<() => void>()
  const store: StoredChanges = {
    listChanges: async ({ after, limit }) => {
      readings += 1
      const oldest = kept[0]?.seq ?? newest + 1
      const tooOld = after < oldest - 1 || after > newest
      const items = tooOld ? [] : kept.filter(({ seq }) => seq > after).slice(0, limit)
      return { items, oldest, newest, tooOld }
    },
    onChanges: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return {
    ...describeChanges(store),
    add: (...changes) => {
      for (const change of changes) {
        newest += 1
        kept.push({ ...change, seq: newest, at: new Date() })
      }
      for (const listener of listeners) listener()
    },
    keep: (count) => {
      kept = kept.slice(-count)
    },
    listeners: () => listeners.size,
    readings: () => readings,
  }
}
