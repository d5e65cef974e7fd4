/**
 * Every model request that the simulator got and how it answered; the newest are kept, up to a limit. Waiting is by
 * signal: each change re-evaluates the waiters.
 */
import type { RequestRecord } from './request-record.ts'

export interface RequestFilter {
  model?: string
  /** A text in the system prompt or the messages. */
  contains?: string
  kind?: RequestRecord['kind']
  sessionId?: string
  /** Records after number `n`, or not before an instant. */
  since?: number | Date
}

/** Long sessions make large requests; this limits the total size, whatever their number. */
const MAX_BYTES = 256 * 1024 * 1024

interface Waiter {
  examine: (record: RequestRecord) => void
  fail: (error: Error) => void
}

export class Recorder {
  readonly #limit: number
  #records: RequestRecord[] = []
  #count = 0
  #bytes = 0
  readonly #waiters = new Set<Waiter>()

  constructor(limit: number) {
    this.#limit = limit
  }

  nextNumber(): number {
    return ++this.#count
  }

  add(record: RequestRecord): void {
    this.#records.push(record)
    this.#bytes += record.bodyBytes
    while (this.#records.length > 1 && (this.#records.length > this.#limit || this.#bytes > MAX_BYTES)) {
      this.#bytes -= this.#records.shift()?.bodyBytes ?? 0
    }
    this.#signal(record)
  }

  update(record: RequestRecord, change: Partial<RequestRecord>): void {
    Object.assign(record, change)
    this.#signal(record)
  }

  list(filter: RequestFilter = {}): RequestRecord[] {
    return this.#records.filter((record) => fits(record, filter))
  }

  clear(): void {
    this.#records = []
    this.#bytes = 0
  }

  /** The first record, past or future, that the predicate accepts. */
  waitFor(predicate: (record: RequestRecord) => boolean, timeoutMs: number): Promise<RequestRecord> {
    const found = this.#records.find(predicate)
    if (found) return Promise.resolve(found)
    const { promise, resolve, reject } = Promise.withResolvers<RequestRecord>()
    const settle = (end: () => void) => {
      clearTimeout(timer)
      this.#waiters.delete(waiter)
      end()
    }
    const waiter: Waiter = {
      examine: (record) => {
        try {
          if (predicate(record)) settle(() => resolve(record))
        } catch (error) {
          settle(() => reject(error))
        }
      },
      fail: (error) => settle(() => reject(error)),
    }
    const timer = setTimeout(() => waiter.fail(new Error(this.#missed(timeoutMs))), timeoutMs)
    this.#waiters.add(waiter)
    return promise
  }

  close(): void {
    for (const waiter of [...this.#waiters])
      waiter.fail(new Error('the simulator was closed while waiting for a request'))
  }

  #signal(record: RequestRecord): void {
    for (const waiter of [...this.#waiters]) waiter.examine(record)
  }

  #missed(timeoutMs: number): string {
    const seen = this.#records
      .slice(-8)
      .map((r) => `#${r.n} ${r.kind} ${r.outcome} ${JSON.stringify(r.userText.slice(0, 60))}`)
    return `no request matched within ${timeoutMs} ms; the newest of ${this.#records.length}: ${seen.join(', ') || 'none'}`
  }
}

function fits(record: RequestRecord, filter: RequestFilter): boolean {
  if (filter.model !== undefined && !record.model.includes(filter.model)) return false
  if (filter.kind !== undefined && record.kind !== filter.kind) return false
  if (filter.sessionId !== undefined && record.sessionId !== filter.sessionId) return false
  if (typeof filter.since === 'number' && record.n <= filter.since) return false
  if (filter.since instanceof Date && record.at < filter.since) return false
  return filter.contains === undefined || textOfRecord(record).includes(filter.contains)
}

function textOfRecord(record: RequestRecord): string {
  const strings: string[] = [record.system]
  const collect = (value: unknown): void => {
    if (typeof value === 'string') strings.push(value)
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect)
  }
  collect(record.messages)
  return strings.join('\n')
}
