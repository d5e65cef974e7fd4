/**
 * The events of a run or a job, as they arrive: each once and in order, also across lost connections. They come faster
 * than a screen is drawn, so listeners are told once per frame.
 */
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { RunEvent } from '../../src/contract/events.ts'
import { client } from './client.ts'

export class EventLog {
  readonly events: RunEvent[] = []
  /** All events that exist were read; more may follow while the run goes on. */
  ended = false
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
        this.events.push(event)
        this.#tell()
      }
      this.ended = true
    } catch (error) {
      if (!signal.aborted) this.error = error
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
    // Pages in the background get no frames.
    if (document.hidden) setTimeout(tell, 250)
    else requestAnimationFrame(tell)
  }
}

export type EventSourceOf = { runId: string } | { jobId: string }

/** `null`: nothing to follow. */
export function useEvents(of: EventSourceOf | null): { log: EventLog; version: number } {
  const runId = of && 'runId' in of ? of.runId : null
  const jobId = of && 'jobId' in of ? of.jobId : null
  const [log, setLog] = useState(() => new EventLog())
  useEffect(() => {
    const stop = new AbortController()
    const next = new EventLog()
    setLog(next)
    const options = { signal: stop.signal, retryForMs: Number.POSITIVE_INFINITY }
    if (runId !== null) void next.read(client.events(runId, options), stop.signal)
    else if (jobId !== null) void next.read(client.jobEvents(jobId, options), stop.signal)
    return () => stop.abort()
  }, [runId, jobId])
  const version = useSyncExternalStore(log.subscribe, log.readVersion)
  return { log, version }
}
