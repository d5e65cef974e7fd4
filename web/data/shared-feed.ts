/**
 * One connection to the change feed for all tabs of a browser. The tab that holds the lock reads it and passes on what
 * it reads; the others wait for the lock. When the reading tab is closed, the browser gives the lock to another one,
 * which continues after the last change that it was told of.
 *
 * Without locks (a page that was loaded by http from another machine) every tab reads for itself.
 */
import type { Change, Reload } from '../../src/client/index.ts'
import { client, isCode } from './client.ts'

export type FeedState = 'live' | 'lost' | 'signed-out'

export interface FeedListener {
  onChange: (change: Change | Reload) => void
  onState: (state: FeedState) => void
}

type Message = { change: Change | Reload } | { state: FeedState } | { hello: true }

const NAME = 'reprise.changes'
const HELLO: Message = { hello: true }

/** Returns what ends it. */
export function shareFeed({ onChange, onState }: FeedListener): () => void {
  const stop = new AbortController()
  const { signal } = stop
  if (!('locks' in navigator) || !('BroadcastChannel' in globalThis)) {
    void read('latest', { onChange, onState }, signal)
    return () => stop.abort()
  }
  const channel = new BroadcastChannel(NAME)
  let position: number | 'latest' = 'latest'
  /** What the reading tab has said last; null: this tab does not read, or does not know yet. */
  let own: FeedState | null = null
  const note = (change: Change | Reload) => {
    position = 'reload' in change ? change.newest : change.seq
    onChange(change)
  }
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if ('hello' in data) {
      if (own !== null) channel.postMessage({ state: own } satisfies Message)
    } else if (own !== null) return
    else if ('change' in data) note(data.change)
    else onState(data.state)
  }
  channel.postMessage(HELLO)
  const tell = (message: Message) => {
    if (!signal.aborted) channel.postMessage(message)
  }
  navigator.locks
    .request(NAME, { signal }, () =>
      read(
        position,
        {
          onChange: (change) => {
            note(change)
            tell({ change })
          },
          onState: (state) => {
            own = state
            onState(state)
            tell({ state })
          },
        },
        signal,
      ),
    )
    // The request was withdrawn because the page is closed.
    .catch(() => {})
  return () => {
    stop.abort()
    channel.close()
  }
}

/** Reads until the signal, or until the daemon refuses this browser. */
async function read(
  after: number | 'latest',
  { onChange, onState }: FeedListener,
  signal: AbortSignal,
): Promise<void> {
  try {
    const changes = client.changes({
      after,
      signal,
      retryForMs: Number.POSITIVE_INFINITY,
      onOpen: () => onState('live'),
      onRetry: () => onState('lost'),
    })
    for await (const change of changes) onChange(change)
  } catch (error) {
    if (signal.aborted) return
    onState(isCode(error, 'unauthorized') ? 'signed-out' : 'lost')
  }
}
