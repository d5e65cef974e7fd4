/** The calls about watches, their cycles, and follow-ups. A watch is named by its id or by its name. */

import type { Cycle, CycleDetail } from '../contract/cycle.ts'
import type { CreateFollowUp, FollowUp, FollowUpState } from '../contract/follow-up.ts'
import type { Page } from '../contract/http.ts'
import type { CreateWatch, Triggered, TriggerWatch, UpdateWatch, Watch } from '../contract/watch.ts'
import { type KeyOptions, keyed, type PageOptions, type Request } from './request.ts'

export interface WatchCalls {
  createWatch: (request: CreateWatch) => Promise<Watch>
  listWatches: () => Promise<Watch[]>
  getWatch: (watch: string) => Promise<Watch>
  updateWatch: (watch: string, change: UpdateWatch) => Promise<Watch>
  pauseWatch: (watch: string) => Promise<Watch>
  resumeWatch: (watch: string) => Promise<Watch>
  /** Its open cycle is cancelled; its cycles stay as records. */
  removeWatch: (watch: string) => Promise<void>
  /** Starts a cycle now, or as soon as the open one has ended. */
  triggerWatch: (watch: string, request?: TriggerWatch, options?: KeyOptions) => Promise<Triggered>
  /** Sends an event of another system. An event that is sent repeatedly starts one cycle. */
  sendEvents: (watch: string, payload: unknown) => Promise<Triggered>
  listCycles: (watch: string, options?: PageOptions) => Promise<Page<Cycle>>
  getCycle: (id: string) => Promise<CycleDetail>
  cancelCycle: (id: string) => Promise<Cycle>
  createFollowUp: (request: CreateFollowUp, options?: KeyOptions) => Promise<FollowUp>
  listFollowUps: (
    options?: PageOptions & {
      state?: FollowUpState | undefined
      runId?: string | undefined
      cycleId?: string | undefined
    },
  ) => Promise<Page<FollowUp>>
  getFollowUp: (id: string) => Promise<FollowUp>
  /** The follow-up stays as a record. */
  cancelFollowUp: (id: string) => Promise<FollowUp>
}

export function watchCalls(request: Request): WatchCalls {
  return {
    createWatch: (body) => request('createWatch', { body }),
    listWatches: async () => (await request('listWatches')).items,
    getWatch: (id) => request('getWatch', { params: { id } }),
    updateWatch: (id, body) => request('updateWatch', { params: { id }, body }),
    pauseWatch: (id) => request('pauseWatch', { params: { id } }),
    resumeWatch: (id) => request('resumeWatch', { params: { id } }),
    removeWatch: (id) => request('removeWatch', { params: { id } }),
    triggerWatch: (id, body = {}, options) =>
      request('triggerWatch', { params: { id }, body, ...keyed(options) }),
    sendEvents: (watch, body) => request('receiveEvents', { params: { watch }, body }),
    listCycles: (id, query) => request('listCycles', { params: { id }, query }),
    getCycle: (id) => request('getCycle', { params: { id } }),
    cancelCycle: (id) => request('cancelCycle', { params: { id } }),
    createFollowUp: (body, options) => request('createFollowUp', { body, ...keyed(options) }),
    listFollowUps: (query) => request('listFollowUps', { query }),
    getFollowUp: (id) => request('getFollowUp', { params: { id } }),
    cancelFollowUp: (id) => request('cancelFollowUp', { params: { id } }),
  }
}
