/** The public interface of queries, which the provider is built on (src/provider). */
import type { AgentOptions } from '../../agents/adapter.ts'
import type { CreateRun } from '../../contract/create-run.ts'
import type { EventOf, EventType } from '../../contract/events.ts'
import type { AttemptId, RunId } from '../../contract/ids.ts'
import type { DroppedResult, HistoryMessage, QuerySession } from '../../contract/query.ts'
import type { Run } from '../../contract/run.ts'
import type { QueryStore } from '../../store/queries/store.ts'
import type { QueryOutput } from './output.ts'

export interface AdmitQuery {
  request: CreateRun
  /** The history that a new session is given, if the session of the request is not resumed. */
  history: readonly HistoryMessage[]
  options: AgentOptions
  /** Kept in memory only. */
  variables: Readonly<Record<string, string | undefined>>
}

export interface QueryStep {
  seq: number
  attemptId: AttemptId | null
  body: EventOf<(typeof STEPS)[number]>
}

export const STEPS = [
  'attempt-start',
  'permission-ask',
  'question-ask',
  'question-cancel',
  'attempt-end',
  'run-end',
] as const satisfies readonly EventType[]

export interface QueryEngine {
  /** `forget` must be called when the query has ended. */
  admitQuery: (query: AdmitQuery) => Promise<{ run: Run; forget: () => void }>
  /** The events that the caller of a query acts on, after `afterSeq`, in order. */
  listSteps: (runId: RunId, afterSeq: number) => Promise<QueryStep[]>
  /** The messages of an attempt. The caller closes it. */
  openOutput: (runId: RunId, attemptId: AttemptId) => Promise<QueryOutput>
  /** Queries that are not settled: of programs that ended without closing the provider. */
  listOpenQueries: () => Promise<RunId[]>
  /** A session with its messages, by the agent's id or ours; null if there is none. Secrets are redacted. */
  readQuerySession: (id: string) => Promise<QuerySession | null>
  /** The messages of a session in which tool results that do not hold any more are replaced; null as above. */
  reconstructContext: (
    id: string,
    limits: { maxAgeMs: number },
  ) => Promise<{ messages: HistoryMessage[]; dropped: DroppedResult[] } | null>
  transcripts: Pick<
    QueryStore,
    'appendTranscript' | 'loadTranscript' | 'listTranscripts' | 'listSubpaths' | 'deleteTranscript'
  >
}
