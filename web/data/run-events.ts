/**
 * The events of a run or a job, as they arrive: each once and in order, also across lost connections. They come faster
 * than a screen is drawn, so listeners are told once per frame.
 *
 * Agents write most of their events as pieces of texts, which come once more as a whole. So a log makes of each event
 * what is shown at once (`take`), and keeps no more than that.
 */
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { RunEvent } from '../../src/contract/events.ts'
import { client } from './client.ts'

/** Something that is made of events, one by one. */
export interface EventReader {
  take: (event: RunEvent) => void
}

export class EventLog<Reader extends EventReader> {
  readonly reader: Reader
  error: unknown = null
  version = 0
  count = 0
  last: Pick<RunEvent, 'runId' | 'seq'> | null = null
  readonly #listeners = new Set<() => void>()
  #scheduled = false

  constructor(reader: Reader) {
    this.reader = reader
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  readonly readVersion = () => this.version

  async read(source: AsyncIterable<RunEvent>, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of source) {
        // Another reading has continued since.
        if (signal.aborted) return
        this.last = { runId: event.runId, seq: event.seq }
        this.count++
        this.reader.take(event)
        this.#tell()
      }
      this.error = null
    } catch (error) {
      if (signal.aborted) return
      this.error = error
    }
    this.#tell()
  }

  #tell(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    const tell = () => {
      this.#scheduled = false
      this.version++
      for (const listener of this.#listeners) listener()
    }
    // A page that has just gone into the background gets no frames.
    if (document.hidden) setTimeout(tell, 250)
    else requestAnimationFrame(tell)
  }
}

const isVisible = () => !document.hidden
function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}

/** The run that works on a job now is another one after each retry. */
export type EventSourceOf = { runId: string } | { jobId: string; newestRunId: string }

/**
 * Reads into one log for as long as the same run or job is shown. The stream of a job ends with its newest run; when
 * the job has another run, it is opened again after the last event that was read. `create` makes the reader of a log and
 * must be the same function each time.
 */
export function useEvents<Reader extends EventReader>(
  of: EventSourceOf,
  create: () => Reader,
): { log: EventLog<Reader>; version: number } {
  const jobId = 'jobId' in of ? of.jobId : null
  const runId = 'runId' in of ? of.runId : of.newestRunId
  const shown = jobId ?? runId
  const [held, setHeld] = useState(() => ({ shown, create, log: new EventLog(create()) }))
  if (held.shown !== shown || held.create !== create) setHeld({ shown, create, log: new EventLog(create()) })
  const { log } = held
  const visible = useSyncExternalStore(onVisibility, isVisible)
  useEffect(() => {
    // Nobody looks, and a browser has only a few connections for all its tabs.
    if (!visible) return
    const stop = new AbortController()
    const options = { signal: stop.signal, retryForMs: Number.POSITIVE_INFINITY }
    const { last } = log
    const source =
      jobId === null
        ? client.events(runId, { ...options, after: last?.seq })
        : client.jobEvents(jobId, { ...options, ...(last ? { after: `${last.runId}:${last.seq}` } : {}) })
    void log.read(source, stop.signal)
    return () => stop.abort()
  }, [log, runId, jobId, visible])
  const version = useSyncExternalStore(log.subscribe, log.readVersion)
  return { log, version }
}
