/** A run's events, page by page: a run may have more of them than should be in memory at once. */
import type { RunId } from '../contract/ids.ts'
import type { StoredEvent } from '../store/records.ts'
import type { Store } from '../store/store.ts'

const PAGE = 100

type Query = Omit<NonNullable<Parameters<Store['listEvents']>[1]>, 'limit'>

export async function scanEvents(
  store: Store,
  runId: RunId,
  query: Query,
  visit: (event: StoredEvent) => void,
): Promise<void> {
  for (let afterSeq = query.afterSeq ?? 0; ; ) {
    const page = await store.listEvents(runId, { ...query, afterSeq, limit: PAGE })
    for (const event of page) visit(event)
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    afterSeq = last.seq
  }
}
