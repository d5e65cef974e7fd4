/** The daemon's HTTP API as typed calls. Runs in Node and in a browser. */
import type { AdoptableQuery, AdoptSessions, FoundSession } from '../contract/adopt.ts'
import type { Agent } from '../contract/agent.ts'
import type { CreateRun } from '../contract/create-run.ts'
import type { Health, Page, Status } from '../contract/http.ts'
import type { NotificationTest } from '../contract/notification.ts'
import type { CostRow, Overview } from '../contract/overview.ts'
import type { PruneReport, PruneRequest } from '../contract/prune.ts'
import type { ToolResult } from '../contract/question.ts'
import type { Referable } from '../contract/reference.ts'
import type { Run, RunDetail } from '../contract/run.ts'
import type { RunMessage, Say } from '../contract/run-message.ts'
import type { Session, SessionDetail, SessionFilters } from '../contract/session.ts'
import type { Stats } from '../contract/stats.ts'
import { type AccessCalls, accessCalls } from './access.ts'
import { type ConversationCalls, conversationCalls } from './conversations.ts'
import { type EscalationCalls, escalationCalls } from './escalation.ts'
import type { FollowOptions } from './follow.ts'
import { type JobCalls, jobCalls } from './jobs.ts'
import {
  createRequest,
  type Endpoint,
  type Fetch,
  type KeyOptions,
  keyed,
  type Open,
  type PageOptions,
  type Request,
} from './request.ts'
import { type StreamCalls, streamCalls } from './streams.ts'
import { type TransferCalls, transferCalls } from './transfers.ts'
import { type TrustCalls, trustCalls } from './trust.ts'
import { type WatchCalls, watchCalls } from './watches.ts'

export interface ClientOptions extends Endpoint {
  fetch?: Fetch
  /** Called after a lost connection to find the daemon: a restart may have moved it to another port. */
  locate?: () => Promise<Endpoint | null>
}

export interface Client
  extends ConversationCalls,
    JobCalls,
    EscalationCalls,
    WatchCalls,
    StreamCalls,
    AccessCalls,
    TransferCalls,
    TrustCalls {
  health: (options?: { signal?: AbortSignal }) => Promise<Health>
  status: () => Promise<Status>
  shutdown: () => Promise<{ pid: number }>
  createRun: (request: CreateRun, options?: KeyOptions) => Promise<Run>
  listRuns: (
    options?: PageOptions & {
      state?: Run['state'] | undefined
      conversationId?: string | undefined
      jobId?: string | undefined
      session?: string | undefined
    },
  ) => Promise<Page<Run>>
  getRun: (id: string) => Promise<RunDetail>
  cancelRun: (id: string) => Promise<Run>
  /** Starts a queued run that waits or is paused now. */
  continueRun: (id: string) => Promise<Run>
  answer: (id: string, answer: ToolResult) => Promise<Run>
  /** Sends a message to an agent that is at work. */
  say: (id: string, message: Say, options?: KeyOptions) => Promise<RunMessage>
  listMessages: (id: string) => Promise<RunMessage[]>
  /** Resolves when the run has ended, without reading its events. */
  whenSettled: (id: string, options?: Pick<FollowOptions, 'signal' | 'retryForMs'>) => Promise<RunDetail>
  listSessions: (options?: PageOptions & SessionFilters) => Promise<Page<Session>>
  /** By Reprise's id (`ses_…`) or the agent's own. */
  getSession: (id: string) => Promise<SessionDetail>
  /** Deletes the agent's files of the session too. */
  deleteSession: (id: string) => Promise<void>
  /** Sessions in the agent's own files, and whether they can be adopted. */
  listAdoptable: (options?: PageOptions & AdoptableQuery) => Promise<Page<FoundSession>>
  /** Takes over sessions that were made without Reprise. Returns a report on each. */
  adoptSessions: (request: AdoptSessions) => Promise<FoundSession[]>
  listAgents: () => Promise<Agent[]>
  stats: () => Promise<Stats>
  /** Returns the runs that need a person, are at work or wait by themselves, and costs and failures since a time. */
  overview: (options?: { since?: string | undefined }) => Promise<Overview>
  listCosts: (period: { since: string; until?: string | undefined }) => Promise<CostRow[]>
  /** Finds the id that a person means by a part of it, or by `last`. */
  resolveId: (ref: string, kind?: Referable) => Promise<{ id: string; kind: Referable }>
  /** The configuration in force; values that may be secret are hidden. */
  configuration: () => Promise<{ settings: unknown; sources: string[] }>
  /** Deletes what is older than the settings in `keep` say; with `dryRun`, only says what that is. */
  prune: (request?: PruneRequest) => Promise<PruneReport>
  /** Sends a test notification to these targets, or to all, and returns what became of each. */
  testNotifications: (targets?: string[]) => Promise<NotificationTest[]>
}

const LATER_THAN_ANY_EVENT = 999_999_999_999_999

export function createClient(options: ClientOptions): Client {
  return createCalls(connectHttp(options))
}

/** The URL and the options are passed on; a caller may replace `globalThis.fetch` later. */
const builtInFetch: Fetch = (url, init) => globalThis.fetch(url, init as RequestInit)

/** How the calls reach an engine: over HTTP, or in the same process. */
export interface Connection {
  request: Request
  open: Open
  streams: StreamCalls
}

export function connectHttp({ fetch = builtInFetch, locate, ...given }: ClientOptions): Connection {
  let endpoint: Endpoint = given
  const { request, open } = createRequest(fetch, () => endpoint)
  const streams = streamCalls({
    open,
    where: () => endpoint.url,
    relocate: async () => {
      endpoint = (await locate?.()) ?? endpoint
    },
  })
  return { request, open, streams }
}

export function createCalls({ request, open, streams }: Connection): Client {
  const getRun = (id: string) => request('getRun', { params: { id } })
  const whenSettled: Client['whenSettled'] = async (id, options) => {
    for await (const _ of streams.events(id, { ...options, after: LATER_THAN_ANY_EVENT }));
    return getRun(id)
  }

  return {
    ...streams,
    ...conversationCalls(request),
    ...jobCalls({ request, open, whenSettled }),
    ...escalationCalls(request),
    ...watchCalls(request),
    ...accessCalls(request),
    ...transferCalls({ request, open }),
    ...trustCalls(request),
    health: (options) => request('getHealth', {}, { signal: options?.signal }),
    status: () => request('getStatus'),
    shutdown: () => request('shutDown'),
    createRun: (body, options) => request('createRun', { body, ...keyed(options) }),
    listRuns: (query) => request('listRuns', { query }),
    getRun,
    cancelRun: (id) => request('cancelRun', { params: { id } }),
    continueRun: (id) => request('continueRun', { params: { id } }),
    answer: (id, body) => request('answerRun', { params: { id }, body }),
    say: (id, body, options) => request('sayToRun', { params: { id }, body, ...keyed(options) }),
    listMessages: async (id) => (await request('listRunMessages', { params: { id } })).items,
    whenSettled,
    listSessions: (query) => request('listSessions', { query }),
    getSession: (id) => request('getSession', { params: { id } }),
    deleteSession: (id) => request('deleteSession', { params: { id } }),
    listAdoptable: (query) => request('listAdoptable', { query }),
    adoptSessions: async (body) => (await request('adoptSessions', { body })).items,
    listAgents: async () => (await request('listAgents')).items,
    stats: () => request('getStats'),
    overview: (query) => request('getOverview', { query }),
    listCosts: async (query) => (await request('listCosts', { query })).items,
    resolveId: (ref, kind) => request('resolveId', { params: { ref }, query: { kind } }),
    configuration: () => request('getConfiguration'),
    prune: (body = {}) => request('prune', { body }),
    testNotifications: async (targets) =>
      (await request('testNotifications', { body: targets === undefined ? {} : { targets } })).items,
  }
}
