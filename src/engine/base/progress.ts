/**
 * Notifies listeners that a run may have new events. It carries no data: a lost notice causes latency, never a lost
 * event.
 */
export class ProgressBus {
  readonly #listeners = new Map<string, Set<() => void>>()

  publish(runId: string): void {
    for (const listener of this.#listeners.get(runId) ?? []) {
      try {
        listener()
      } catch {
        // An error in a listener must not affect the run that it listens to.
      }
    }
  }

  subscribe(runId: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(runId) ?? new Set()
    this.#listeners.set(runId, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(runId) === listeners) this.#listeners.delete(runId)
    }
  }
}
