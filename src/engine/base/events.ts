/** Reads a run's events in pages, because all of them together may be too large for memory. */
import type { RunId } from '../../contract/ids.ts'
import { nextPageSize, START_PAGE } from '../../core/page-size.ts'
import type { StoredEvent } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

type Query = Omit<NonNullable<Parameters<Store['listEvents']>[1]>, 'limit'>

export async function scanEvents(
  store: Pick<Store, 'listEvents'>,
  runId: RunId,
  query: Query,
  visit: (event: StoredEvent) => void,
): Promise<void> {
  let limit = START_PAGE
  for (let afterSeq = query.afterSeq ?? 0; ; ) {
    const page = await store.listEvents(runId, { ...query, afterSeq, limit })
    for (const event of page) visit(event)
    const last = page.at(-1)
    if (!last || page.length < limit) return
    afterSeq = last.seq
    limit = nextPageSize(
      limit,
      page.reduce((sum, event) => sum + event.chars, 0),
    )
  }
}
