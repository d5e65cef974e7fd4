/** The change feed, from any number, in pages. */
import type { Change, Reload } from '../../contract/change.ts'
import type { Changes } from '../base/changes.ts'
import { type FollowContext, listenFor } from './notice.ts'

const PAGE = 500

/** No change has a number as high as this one. */
export const AFTER_ALL = Number.MAX_SAFE_INTEGER

/** An empty page means that nothing was new for a while. */
export async function* followChanges(
  { listChanges, onChanges }: Changes,
  query: { after: number; follow: boolean },
  { heartbeatMs, ended }: FollowContext,
): AsyncGenerator<readonly (Change | Reload)[], void> {
  const news = listenFor(onChanges)
  let { after } = query
  try {
    while (!ended.aborted) {
      news.rearm()
      const { items, newest, tooOld } = await listChanges({ after, limit: PAGE })
      // A number higher than the newest is from another database, or from before a backup was restored.
      if (tooOld || after > newest) {
        yield [{ reload: true, newest }]
        after = newest
        continue
      }
      if (items.length > 0) yield items
      after = items.at(-1)?.seq ?? after
      // A full page may not be all there is.
      if (items.length === PAGE) continue
      if (!query.follow) return
      if (await news.wait(heartbeatMs, ended)) continue
      if (!ended.aborted) yield []
    }
  } finally {
    news.close()
  }
}
