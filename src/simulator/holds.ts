/**
 * Named points at which replies wait until a test releases them. Releasing a hold before a reply waits at it lets the
 * next reply pass, so the order of the two does not matter.
 */
export class Holds {
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #passes = new Map<string, number>()

  /** Resolves when released; rejects with the signal's reason if it is aborted first. */
  async wait(name: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const passes = this.#passes.get(name) ?? 0
    if (passes > 0) {
      this.#passes.set(name, passes - 1)
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiters = this.#waiting.get(name) ?? new Set()
    this.#waiting.set(name, waiters.add(resolve))
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', abort)
      waiters.delete(resolve)
      if (waiters.size === 0 && this.#waiting.get(name) === waiters) this.#waiting.delete(name)
    }
  }

  /** Releases everything that waits at `name`, or else the next reply to come. Returns how many were waiting. */
  release(name: string): number {
    const waiters = this.#waiting.get(name)
    this.#waiting.delete(name)
    if (!waiters) {
      this.#passes.set(name, (this.#passes.get(name) ?? 0) + 1)
      return 0
    }
    for (const go of waiters) go()
    return waiters.size
  }

  waiting(): Record<string, number> {
    return Object.fromEntries([...this.#waiting].map(([name, waiters]) => [name, waiters.size]))
  }

  /** Releases everything and forgets unused releases. */
  clear(): void {
    for (const name of [...this.#waiting.keys()]) this.release(name)
    this.#passes.clear()
  }
}
