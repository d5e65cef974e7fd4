/** The calls about watches, their cycles, and follow-ups. A watch is named by its id or by its name. */
import type { CreateFollowUp, FollowUp, FollowUpState } from '../contract/follow-up.ts'
import type { Page } from '../contract/http.ts'
import type {
  CreateWatch,
  Cycle,
  CycleDetail,
  Triggered,
  TriggerWatch,
  UpdateWatch,
  Watch,
} from '../contract/watch.ts'
import { type Call, type KeyOptions, keyed, type PageOptions } from './request.ts'

export interface WatchCalls {
  createWatch: (request: CreateWatch) => Promise<Watch>
  listWatches: () => Promise<Watch[]>
  getWatch: (watch: string) => Promise<Watch>
  updateWatch: (watch: string, change: UpdateWatch) => Promise<Watch>
  pauseWatch: (watch: string) => Promise<Watch>
  resumeWatch: (watch: string) => Promise<Watch>
  /** What it is doing is cancelled; its cycles stay as records. */
  removeWatch: (watch: string) => Promise<void>
  /** A cycle now; while one is open, as soon as that has ended. */
  triggerWatch: (watch: string, request?: TriggerWatch, options?: KeyOptions) => Promise<Triggered>
  /** What happened elsewhere. The same event makes one cycle, however often it is sent. */
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
  /** It stays as a record. */
  cancelFollowUp: (id: string) => Promise<FollowUp>
}

export interface WatchParts {
  /** For an answer that is JSON. */
  call: <T>(request: Call) => Promise<T>
  /** For one without a body. */
  tell: (request: Call) => Promise<void>
}

export function watchCalls({ call, tell }: WatchParts): WatchCalls {
  const watches = '/api/watches'
  const watch = (ref: string, rest = '') => `${watches}/${encodeURIComponent(ref)}${rest}`
  const cycle = (id: string, rest = '') => `/api/cycles/${encodeURIComponent(id)}${rest}`
  const followUps = '/api/followups'
  const followUp = (id: string) => `${followUps}/${encodeURIComponent(id)}`

  return {
    createWatch: (body) => call({ method: 'POST', path: watches, body }),
    listWatches: async () => (await call<Page<Watch>>({ path: watches })).items,
    getWatch: (ref) => call({ path: watch(ref) }),
    updateWatch: (ref, body) => call({ method: 'PATCH', path: watch(ref), body }),
    pauseWatch: (ref) => call({ method: 'POST', path: watch(ref, '/pause') }),
    resumeWatch: (ref) => call({ method: 'POST', path: watch(ref, '/resume') }),
    removeWatch: (ref) => tell({ method: 'DELETE', path: watch(ref) }),
    triggerWatch: (ref, body = {}, options) =>
      call({ method: 'POST', path: watch(ref, '/trigger'), body, ...keyed(options) }),
    sendEvents: (ref, body) => call({ method: 'POST', path: `/api/hooks/${encodeURIComponent(ref)}`, body }),
    listCycles: (ref, options) => call({ path: watch(ref, '/cycles'), query: { ...options } }),
    getCycle: (id) => call({ path: cycle(id) }),
    cancelCycle: (id) => call({ method: 'POST', path: cycle(id, '/cancel') }),
    createFollowUp: (body, options) => call({ method: 'POST', path: followUps, body, ...keyed(options) }),
    listFollowUps: (options) => call({ path: followUps, query: { ...options } }),
    getFollowUp: (id) => call({ path: followUp(id) }),
    cancelFollowUp: (id) => call({ method: 'DELETE', path: followUp(id) }),
  }
}
