/**
 * Follows a stream of the daemon across lost connections: after each one it asks for what comes after the last item
 * it has seen, so every item is yielded once and in order, also when the daemon is restarted in between.
 */
import { RepriseError } from '../contract/errors.ts'
import { readLines } from './lines.ts'
import { unreachable } from './request.ts'

/** How a stream is followed. `Position` is where it was read to. */
export interface FollowOptions<Position = number> {
  /** Start after this item. */
  after?: Position | undefined
  /** `false`: end at the newest item instead of waiting for more. */
  follow?: boolean
  signal?: AbortSignal
  /** How long to retry while the daemon does not respond. */
  retryForMs?: number
  /** Called when a connection is established, also after a loss. */
  onOpen?: () => void
  /** Called when the connection is lost, before each retry. */
  onRetry?: (error: RepriseError) => void
}

export interface Source<Item, Position> {
  /** Opens the stream after `after`; null when the stream has ended and there is nothing more. */
  open: (
    after: Position | undefined,
    follow: boolean,
    signal: AbortSignal,
  ) => Promise<ReadableStream<Uint8Array> | null>
  /** Where the stream has been read to with this item; null: the item was seen before. */
  advance: (item: Item, after: Position | undefined) => Position | null
  isEnd: (item: Item) => boolean
  /** The address, for messages. */
  where: string
}

/** The server sends something every 15 s; after three missed times the connection is dead. */
const SILENCE_MS = 45_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000

export async function* followStream<Item, Position>(
  { open, advance, isEnd, where }: Source<Item, Position>,
  { after, follow = true, signal, retryForMs = 30_000, onOpen, onRetry }: FollowOptions<Position>,
): AsyncGenerator<Item, void> {
  let seen = after
  let failingSince: number | null = null
  let pauseMs = FIRST_PAUSE_MS
  for (;;) {
    signal?.throwIfAborted()
    const silence = watchSilence(signal)
    try {
      const body = await open(seen, follow, silence.signal)
      if (!body) return
      onOpen?.()
      for await (const line of readLines(body, silence.reset)) {
        failingSince = null
        pauseMs = FIRST_PAUSE_MS
        if (line === '') continue
        const item = JSON.parse(line) as Item
        const position = advance(item, seen)
        if (position === null) continue
        seen = position
        yield item
        if (follow && isEnd(item)) return
      }
      if (!follow) return
      throw unreachable(where)
    } catch (error) {
      signal?.throwIfAborted()
      const lost = asLostConnection(error, where)
      if (!lost) throw error
      failingSince ??= performance.now()
      if (performance.now() - failingSince >= retryForMs) throw lost
      onRetry?.(lost)
      await pause(pauseMs, signal)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    } finally {
      silence.close()
    }
  }
}

/** An error that the daemon sent is final; everything else that fails here is the connection. */
function asLostConnection(error: unknown, where: string): RepriseError | null {
  if (!(error instanceof RepriseError)) return unreachable(where, error)
  return error.code === 'daemon-unreachable' ? error : null
}

function watchSilence(outer: AbortSignal | undefined) {
  const controller = new AbortController()
  const end = () => controller.abort(outer?.reason)
  const start = () => setTimeout(() => controller.abort(new Error('silence')), SILENCE_MS)
  let timer = start()
  outer?.addEventListener('abort', end, { once: true })
  return {
    signal: controller.signal,
    reset: () => {
      clearTimeout(timer)
      timer = start()
    },
    close: () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', end)
      controller.abort()
    },
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    signal?.addEventListener('abort', done, { once: true })
  })
}
