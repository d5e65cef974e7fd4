/**
 * The events of a run or a job, as they arrive: each once and in order, also across lost connections. They come faster
 * than a screen is drawn, so listeners are told once per frame.
 */
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { RunEvent } from '../../src/contract/events.ts'
import { client } from './client.ts'

export class EventLog {
  readonly events: RunEvent[] = []
  error: unknown = null
  version = 0
  readonly #listeners = new Set<() => void>()
  #scheduled = false

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
        this.events.push(event)
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
 * the job has another run, it is opened again after the last event that was read.
 */
export function useEvents(of: EventSourceOf): { log: EventLog; version: number } {
  const jobId = 'jobId' in of ? of.jobId : null
  const runId = 'runId' in of ? of.runId : of.newestRunId
  const shown = jobId ?? runId
  const [held, setHeld] = useState(() => ({ shown, log: new EventLog() }))
  if (held.shown !== shown) setHeld({ shown, log: new EventLog() })
  const { log } = held
  const visible = useSyncExternalStore(onVisibility, isVisible)
  useEffect(() => {
    // Nobody looks, and a browser has only a few connections for all its tabs.
    if (!visible) return
    const stop = new AbortController()
    const options = { signal: stop.signal, retryForMs: Number.POSITIVE_INFINITY }
    const last = log.events.at(-1)
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
