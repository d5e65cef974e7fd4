/** What the outside may ask of the engine. The server, and whoever embeds Reprise, see nothing else of it. */
import type { Agent } from '../contract/agent.ts'
import type { RunEvent } from '../contract/events.ts'
import type { Page } from '../contract/http.ts'
import type { RunId } from '../contract/ids.ts'
import type { CreateRun, Run, RunDetail, ToolResult } from '../contract/run.ts'
import type { Session, SessionDetail } from '../contract/session.ts'

export interface ListQuery {
  limit: number
  cursor?: string | undefined
}

export interface Engine {
  /** Stores the intent. `created` is false if the key was seen before; the run is then the earlier one. */
  admit: (request: CreateRun, idempotencyKey: string | null) => Promise<{ run: Run; created: boolean }>
  /** Resolves when the wish is stored; the run settles soon after. Cancelling a settled run is an error. */
  cancel: (id: RunId) => Promise<Run>
  answer: (id: RunId, answer: ToolResult) => Promise<Run>

  getRun: (id: RunId) => Promise<RunDetail>
  listRuns: (query: ListQuery & { state?: Run['state'] | undefined }) => Promise<Page<Run>>
  countRuns: () => Promise<{ queued: number; running: number; settled: number }>

  /** In order, from after `afterSeq`. */
  listEvents: (id: RunId, afterSeq: number, limit: number) => Promise<RunEvent[]>
  /** Calls back when the run may have new events. Only a hint: listeners look for themselves, at their own pace. */
  onProgress: (id: RunId, listener: () => void) => () => void

  listSessions: (query: ListQuery) => Promise<Page<Session>>
  /** By our id (`ses_…`) or by the agent's own. */
  getSession: (id: string) => Promise<SessionDetail>

  listAgents: () => Promise<Agent[]>
}
