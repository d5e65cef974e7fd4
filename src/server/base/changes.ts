/** The change feed, from any number, as pieces of a stream. */
import type { Change, Reload } from '../../contract/change.ts'
import type { Changes } from '../../engine/api.ts'
import { listenFor, type StreamContext, type StreamItem } from './stream.ts'

const PAGE = 500

/** No change has a number as high as this one. */
export const AFTER_ALL = Number.MAX_SAFE_INTEGER

const itemOf = (change: Change): StreamItem => ({ id: String(change.seq), event: 'change', data: change })

function reloadOf(newest: number): StreamItem {
  const data: Reload = { reload: true, newest }
  return { id: String(newest), event: 'reload', data }
}

export async function* changeChunks(
  { listChanges, onChanges }: Changes,
  query: { after: number; follow: boolean },
  { encoding, heartbeatMs, ended }: StreamContext,
): AsyncGenerator<string, void> {
  const news = listenFor(onChanges)
  let { after } = query
  try {
    while (!ended.aborted) {
      news.rearm()
      const { items, newest, tooOld } = await listChanges({ after, limit: PAGE })
      // A number higher than the newest is from another database, or from before a backup was restored.
      if (tooOld || after > newest) {
        yield encoding.encode(reloadOf(newest))
        after = newest
        continue
      }
      if (items.length > 0) yield items.map((change) => encoding.encode(itemOf(change))).join('')
      after = items.at(-1)?.seq ?? after
      // A full page may not be all there is.
      if (items.length === PAGE) continue
      if (!query.follow) return
      if (await news.wait(heartbeatMs, ended)) continue
      if (!ended.aborted) yield encoding.heartbeat
    }
  } finally {
    news.close()
  }
}
