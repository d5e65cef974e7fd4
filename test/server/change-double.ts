/** A change feed in memory: numbered from 1, of which the oldest can be dropped. */
import type { Change } from '../../src/contract/change.ts'
import type { Changes } from '../../src/engine/api.ts'

export interface ChangeDouble extends Changes {
  add: (...changes: Pick<Change, 'kind' | 'id' | 'state'>[]) => void
  /** Keeps only the newest. */
  keep: (count: number) => void
  listeners: () => number
}

export function createChangeDouble(): ChangeDouble {
  let kept: Change[] = []
  let newest = 0
  const listeners = new Set<() => void>()
  return {
    add: (...changes) => {
      for (const change of changes) {
        newest += 1
        kept.push({ seq: newest, ...change, at: new Date().toISOString() })
      }
      for (const listener of listeners) listener()
    },
    keep: (count) => {
      kept = kept.slice(-count)
    },
    listeners: () => listeners.size,
    listChanges: async ({ after, limit }) => {
      const oldest = kept[0]?.seq ?? 0
      return {
        items: kept.filter(({ seq }) => seq > after).slice(0, limit),
        oldest,
        newest,
        tooOld: after < newest && after + 1 < oldest,
      }
    },
    onChanges: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
