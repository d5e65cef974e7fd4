/** Finds watches and cycles, or throws `not-found`. */
import { RepriseError } from '../../contract/errors.ts'
import type { CycleId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import type { CycleRecord, WatchRecord } from '../../store/watches/records.ts'

export async function requireWatch(store: Pick<Store, 'findWatch'>, idOrName: string): Promise<WatchRecord> {
  const watch = await store.findWatch(idOrName)
  if (watch) return watch
  throw new RepriseError('not-found', `there is no watch ${JSON.stringify(idOrName.slice(0, 80))}`, {
    hint: '`reprise watch` lists them.',
  })
}

export async function requireCycle(store: Pick<Store, 'getCycle'>, id: CycleId): Promise<CycleRecord> {
  const cycle = await store.getCycle(id)
  if (cycle) return cycle
  throw new RepriseError('not-found', `there is no cycle ${id}`, {
    hint: '`reprise watch cycles NAME` lists those of a watch.',
  })
}
