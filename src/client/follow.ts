/**
 * Follows a run's events across lost connections: after each one it asks for what comes after the last event it saw,
 * so every event is yielded once and in order, also when the daemon is restarted in between.
 */
import { RepriseError } from '../contract/errors.ts'
import type { RunEvent } from '../contract/events.ts'
import { readLines } from './lines.ts'
import { unreachable } from './request.ts'

export interface FollowOptions {
  /** Start after the event with this number. */
  after?: number
  /** `false`: end at the newest event instead of waiting for the run to end. */
  follow?: boolean
  signal?: AbortSignal
  /** How long to go on trying while nobody answers. */
  retryForMs?: number
  /** Told when the connection is lost, before each new try. */
  onRetry?: (error: RepriseError) => void
}

/** Opens the stream after `after`; null when the run has ended and there is nothing more. */
export type OpenStream = (after: number, signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | null>

/** The server says something every 15 s; after three missed times the connection is dead. */
const SILENCE_MS = 45_000
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1000

export async function* followEvents(
  open: OpenStream,
  where: string,
  { after = 0, follow = true, signal, retryForMs = 30_000, onRetry }: FollowOptions,
): AsyncGenerator<RunEvent, void> {
  let seen = after
  let failingSince: number | null = null
  let pauseMs = FIRST_PAUSE_MS
  for (;;) {
    signal?.throwIfAborted()
    const silence = watchSilence(signal)
    try {
      const body = await open(seen, silence.signal)
      if (!body) return
      for await (const line of readLines(body, silence.reset)) {
        failingSince = null
        pauseMs = FIRST_PAUSE_MS
        if (line === '') continue
        const event = JSON.parse(line) as RunEvent
        if (event.seq <= seen) continue
        seen = event.seq
        yield event
        if (event.type === 'run-end' && follow) return
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

/** What the daemon said is final; everything else that breaks here is the connection. */
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
