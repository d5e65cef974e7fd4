/**
 * Asks again for what may have changed. A query that is being fetched for the first time is not interrupted by an
 * invalidation, which is then forgotten, although the answer may be from before the change: it is asked again afterwards.
 */
import type { QueryClient, QueryKey } from '@tanstack/react-query'

/** Without a key: everything. */
export function askAgain(queries: QueryClient, queryKey: QueryKey = []): void {
  const beginning = queries
    .getQueryCache()
    .findAll({ queryKey, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined)
  void queries.invalidateQueries({ queryKey })
  for (const query of beginning) {
    // In a later task, when the query has stored what it got.
    const again = () => setTimeout(() => askAgain(queries, query.queryKey))
    void query.promise?.then(again, again)
  }
}
