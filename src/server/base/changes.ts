/**
 * The change feed as pieces of a stream. Readers that wait at the same number are woken by the same change; for all of
 * them together a page is read once (shared-reading.ts) and encoded once.
 */
import type { Change, Reload } from '../../contract/change.ts'
import type { Changes } from '../../engine/api.ts'
import { followChanges } from '../../engine/follow/changes.ts'
import { shareReading } from './shared-reading.ts'
import type { Encoding, StreamContext, StreamItem } from './stream.ts'

export interface ChangeChunks {
  follow: (
    query: { after: number; follow: boolean },
    context: StreamContext,
  ) => AsyncGenerator<Uint8Array, void>
}

export function createChangeChunks({ listChanges, onChanges }: Changes): ChangeChunks {
  const shared: Changes = {
    listChanges: shareReading(listChanges, ({ after, limit }) => `${after} ${limit}`),
    onChanges,
  }
  const pages = new EncodedPages()
  return {
    follow: async function* (query, context) {
      for await (const page of followChanges(shared, query, context))
        yield pages.encode(page, context.encoding)
    },
  }
}

type Page = readonly (Change | Reload)[]

class EncodedPages {
  /** By page and encoding, as long as somebody holds the page. */
  readonly #known = new WeakMap<Page, Map<Encoding, Uint8Array>>()
  readonly #encoder = new TextEncoder()

  encode(page: Page, encoding: Encoding): Uint8Array {
    const known = this.#known.get(page) ?? new Map<Encoding, Uint8Array>()
    this.#known.set(page, known)
    const text = () => page.map((change) => encoding.encode(itemOf(change))).join('') || encoding.heartbeat
    const bytes = known.get(encoding) ?? this.#encoder.encode(text())
    known.set(encoding, bytes)
    return bytes
  }
}

const itemOf = (change: Change | Reload): StreamItem =>
  'reload' in change
    ? { id: String(change.newest), event: 'reload', data: change }
    : { id: String(change.seq), event: 'change', data: change }
