/** The change feed as pieces of a stream. */
import type { Change, Reload } from '../../contract/change.ts'
import type { Changes } from '../../engine/api.ts'
import { followChanges } from '../../engine/follow/changes.ts'
import type { StreamContext, StreamItem } from './stream.ts'

const itemOf = (change: Change | Reload): StreamItem =>
  'reload' in change
    ? { id: String(change.newest), event: 'reload', data: change }
    : { id: String(change.seq), event: 'change', data: change }

export async function* changeChunks(
  changes: Changes,
  query: { after: number; follow: boolean },
  context: StreamContext,
): AsyncGenerator<string, void> {
  const { encoding } = context
  for await (const page of followChanges(changes, query, context)) {
    yield page.map((change) => encoding.encode(itemOf(change))).join('') || encoding.heartbeat
  }
}
