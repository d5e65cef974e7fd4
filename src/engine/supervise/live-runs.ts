/**
 * The attempts that this daemon supervises now, by run. After `detachAll`, attempts that are added are detached at
 * once.
 */
import type { RunId } from '../../contract/ids.ts'
import type { Supervision } from './supervision.ts'

export class LiveRuns {
  readonly #byRun = new Map<RunId, Supervision>()
  readonly #onWaiting: (id: RunId, waiting: boolean) => void
  #detached = false

  /** `onWaiting` is called when a run starts or stops waiting for a person. */
  constructor(onWaiting: (id: RunId, waiting: boolean) => void) {
    this.#onWaiting = onWaiting
  }

  noteWaiting(id: RunId, waiting: boolean): void {
    this.#onWaiting(id, waiting)
  }

  get(id: RunId): Supervision | undefined {
    return this.#byRun.get(id)
  }

  add(id: RunId, supervision: Supervision): void {
    this.#byRun.set(id, supervision)
    if (this.#detached) supervision.detach()
  }

  remove(id: RunId): void {
    this.#byRun.delete(id)
  }

  detachAll(): void {
    this.#detached = true
    for (const supervision of this.#byRun.values()) supervision.detach()
  }
}
