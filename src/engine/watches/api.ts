/** What the outside may ask of watches and their cycles. */

import type { Cycle, CycleDetail } from '../../contract/cycle.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import type { CycleId } from '../../contract/ids.ts'
import type { CreateWatch, Triggered, TriggerWatch, UpdateWatch, Watch } from '../../contract/watch.ts'

/** A watch is named by its id or by its name. */
export interface WatchEngine {
  createWatch: (request: CreateWatch) => Promise<Watch>
  listWatches: () => Promise<Watch[]>
  getWatch: (watch: string) => Promise<Watch>
  /** One from the configuration can only be paused and resumed. */
  updateWatch: (watch: string, change: UpdateWatch) => Promise<Watch>
  /** What it is doing is cancelled; its cycles stay as records. */
  removeWatch: (watch: string) => Promise<void>
  /** A cycle now; while one is open, as soon as that has ended. */
  triggerWatch: (watch: string, request: TriggerWatch, idempotencyKey?: string | null) => Promise<Triggered>
  /** What another system sent. The same event makes one cycle, however often it is sent. */
  receiveEvents: (watch: string, payload: unknown) => Promise<Triggered>
  /** With which one may send it events and do nothing else; null: there is none. */
  readHookSecret: (watch: string) => Promise<string | null>
  listCycles: (watch: string, query: ListQuery) => Promise<Page<Cycle>>
  getCycle: (id: CycleId) => Promise<CycleDetail>
  cancelCycle: (id: CycleId) => Promise<Cycle>
}
