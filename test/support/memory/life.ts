/**
 * The life of one engine in a test. When it is over, nothing that the engine calls has an effect any more, as if its process had
 * been killed: calls to its store and its processes never return.
 */
type When = 'before' | 'after'

const READS = /^(get|list|find|count|read|next|hurry|close|on|changes)/

export class Life {
  isOver = false
  /** The writes to the store, in order. */
  readonly writes: string[] = []
  readonly #under = new Set<Promise<unknown>>()
  #end: { when: When; write: number | string } | null = null
  #onOver = () => {}
  readonly over = new Promise<void>((resolve) => {
    this.#onOver = resolve
  })

  /** Ends it right before or after its write of this number, counted from 1, or its next write of this name. */
  endAt(when: When, write: number | string): void {
    this.#end = { when, write }
  }

  end(): void {
    this.isOver = true
    this.#onOver()
  }

  /** What was handed to the database when the life ended has been committed, or refused. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#under)
  }

  /** The part, as an engine of this life sees it. */
  bind<T extends object>(part: T): T {
    return new Proxy(part, {
      get: (target, key) => {
        const value = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (this.isOver) return new Promise(() => {})
          const result = value.apply(target, args)
          return key === 'follow' ? this.bind(result) : result
        }
      },
    })
  }

  /** The store, as an engine of this life sees it. */
  bindStore<T extends object>(store: T): T {
    return new Proxy(store, {
      get: (target, key) => {
        const value = Reflect.get(target, key)
        if (typeof value !== 'function' || typeof key !== 'string') return value
        if (READS.test(key)) return (...args: unknown[]) => this.#read(() => value.apply(target, args))
        return (...args: unknown[]) => this.#write(key, () => value.apply(target, args))
      },
    })
  }

  #read(call: () => unknown): unknown {
    if (this.isOver) return new Promise(() => {})
    const result = call()
    return result instanceof Promise ? this.#whileAlive(result) : result
  }

  async #write(name: string, call: () => Promise<unknown>): Promise<unknown> {
    if (this.isOver) return new Promise(() => {})
    const number = this.writes.push(name)
    const ends = (when: When) => this.#end?.when === when && [number, name].includes(this.#end.write)
    if (ends('before')) this.end()
    if (this.isOver) return new Promise(() => {})
    const done = call()
    this.#under.add(done)
    try {
      return await this.#whileAlive(done.finally(() => ends('after') && this.end()))
    } finally {
      this.#under.delete(done)
    }
  }

  /** The engine learns of nothing that happens after the end. */
  #whileAlive<T>(result: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      result.then(
        (value) => !this.isOver && resolve(value),
        (error: unknown) => !this.isOver && reject(error),
      )
    })
  }
}
