/** The daemon's HTTP surface as typed calls. Runs in Node and in a browser. */
import type { Agent } from '../contract/agent.ts'
import { RepriseError } from '../contract/errors.ts'
import type { RunEvent } from '../contract/events.ts'
import type { Health, Page, Status } from '../contract/http.ts'
import type { CreateRun, Run, RunDetail, ToolResult } from '../contract/run.ts'
import type { Session, SessionDetail } from '../contract/session.ts'
import type { Stats } from '../contract/stats.ts'
import { type ConversationCalls, conversationCalls } from './conversations.ts'
import { type EscalationCalls, escalationCalls } from './escalation.ts'
import { type FollowOptions, followEvents } from './follow.ts'
import { type JobCalls, jobCalls } from './jobs.ts'
import {
  type Call,
  type Endpoint,
  type Fetch,
  type KeyOptions,
  keyed,
  type PageOptions,
  receive,
  send,
  unreachable,
} from './request.ts'
import { type WatchCalls, watchCalls } from './watches.ts'

export interface ClientOptions extends Endpoint {
  fetch?: Fetch
  /** Asked after a lost connection: where the daemon is now. A restart may have moved it to another port. */
  locate?: () => Promise<Endpoint | null>
}

export interface Client extends ConversationCalls, JobCalls, EscalationCalls, WatchCalls {
  health: (options?: { signal?: AbortSignal }) => Promise<Health>
  status: () => Promise<Status>
  shutdown: () => Promise<{ pid: number }>
  createRun: (request: CreateRun, options?: KeyOptions) => Promise<Run>
  listRuns: (options?: PageOptions & { state?: Run['state'] | undefined }) => Promise<Page<Run>>
  getRun: (id: string) => Promise<RunDetail>
  cancelRun: (id: string) => Promise<Run>
  /** Makes a queued run that waits, or is paused, go on now. */
  continueRun: (id: string) => Promise<Run>
  answer: (id: string, answer: ToolResult) => Promise<Run>
  /** Every event once and in order; reconnects by itself. Without `follow: false`, until the run has ended. */
  events: (id: string, options?: FollowOptions) => AsyncGenerator<RunEvent, void>
  /** Resolves when the run has ended, without reading its events. */
  whenSettled: (id: string, options?: Pick<FollowOptions, 'signal' | 'retryForMs'>) => Promise<RunDetail>
  listSessions: (options?: PageOptions) => Promise<Page<Session>>
  /** By our id (`ses_…`) or the agent's own. */
  getSession: (id: string) => Promise<SessionDetail>
  listAgents: () => Promise<Agent[]>
  stats: () => Promise<Stats>
}

const LATER_THAN_ANY_EVENT = 999_999_999_999_999

export function createClient({ url, token, fetch = globalThis.fetch, locate }: ClientOptions): Client {
  let endpoint: Endpoint = { url, token }
  const call = async <T>(request: Call): Promise<T> => receive<T>(await send(fetch, endpoint, request))

  const tell = async (request: Call): Promise<void> => {
    await send(fetch, endpoint, request)
  }

  const open = async (request: Call) => {
    const { body } = await send(fetch, endpoint, request)
    if (!body) throw unreachable(endpoint.url)
    return body
  }

  const openEvents = (id: string, follow: boolean) => async (after: number, signal: AbortSignal) => {
    const request: Call = {
      path: `/api/runs/${encodeURIComponent(id)}/events`,
      query: { after, ...(follow ? {} : { follow: 'false' }) },
      headers: { accept: 'application/x-ndjson' },
      signal,
    }
    try {
      return (await send(fetch, endpoint, request)).body
    } catch (error) {
      if (error instanceof RepriseError && error.code === 'daemon-unreachable') {
        endpoint = (await locate?.()) ?? endpoint
      }
      throw error
    }
  }
  const events: Client['events'] = (id, options = {}) =>
    followEvents(openEvents(id, options.follow !== false), endpoint.url, options)
  const run = (id: string, action = '') => `/api/runs/${encodeURIComponent(id)}${action}`

  const whenSettled: Client['whenSettled'] = async (id, options) => {
    for await (const _ of events(id, { ...options, after: LATER_THAN_ANY_EVENT }));
    return call({ path: run(id) })
  }

  return {
    ...conversationCalls({ call, tell }),
    ...jobCalls({ call, open, events, whenSettled }),
    ...escalationCalls(call),
    ...watchCalls({ call, tell }),
    health: (options) => call({ path: '/api/health', signal: options?.signal }),
    status: () => call({ path: '/api/status' }),
    shutdown: () => call({ method: 'POST', path: '/api/shutdown' }),
    createRun: (body, options) => call({ method: 'POST', path: '/api/runs', body, ...keyed(options) }),
    listRuns: (options) => call({ path: '/api/runs', query: { ...options } }),
    getRun: (id) => call({ path: run(id) }),
    cancelRun: (id) => call({ method: 'POST', path: run(id, '/cancel') }),
    continueRun: (id) => call({ method: 'POST', path: run(id, '/continue') }),
    answer: (id, body) => call({ method: 'POST', path: run(id, '/tool-result'), body }),
    events,
    whenSettled,
    listSessions: (options) => call({ path: '/api/sessions', query: { ...options } }),
    getSession: (id) => call({ path: `/api/sessions/${encodeURIComponent(id)}` }),
    listAgents: async () => (await call<Page<Agent>>({ path: '/api/agents' })).items,
    stats: () => call({ path: '/api/stats' }),
  }
}
