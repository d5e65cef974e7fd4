/** What the outside may ask of watches and their cycles. */

import type { Cycle, CycleDetail } from '../../contract/cycle.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import type { CycleId } from '../../contract/ids.ts'
import type { CreateWatch, Triggered, TriggerWatch, UpdateWatch, Watch } from '../../contract/watch.ts'

/** The parameter `watch` is an id or a name. */
export interface WatchEngine {
  createWatch: (request: CreateWatch) => Promise<Watch>
  listWatches: () => Promise<Watch[]>
  getWatch: (watch: string) => Promise<Watch>
  /** A watch from the configuration can only be paused and resumed. */
  updateWatch: (watch: string, change: UpdateWatch) => Promise<Watch>
  /** Cancels the open cycle; the cycles stay as records. */
  removeWatch: (watch: string) => Promise<void>
  /** Starts a cycle now, or queues it if a cycle is open. */
  triggerWatch: (watch: string, request: TriggerWatch, idempotencyKey?: string | null) => Promise<Triggered>
  /** Handles events from another system. An event that is sent repeatedly starts one cycle only. */
  receiveEvents: (watch: string, payload: unknown) => Promise<Triggered>
  /** The secret that allows sending events to the watch and nothing else; null if it has none. */
  readHookSecret: (watch: string) => Promise<string | null>
  listCycles: (watch: string, query: ListQuery) => Promise<Page<Cycle>>
  getCycle: (id: CycleId) => Promise<CycleDetail>
  cancelCycle: (id: CycleId) => Promise<Cycle>
}
