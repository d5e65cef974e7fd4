/** Attempts, how they end, and what they ask. */
import type { CacheUse } from '../../contract/cache.ts'
import type { EventBody, EventOf } from '../../contract/events.ts'
import type { AttemptId, ProcessId, RunId, SessionId } from '../../contract/ids.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Carry, FreshReason, ToolResult } from '../../contract/run.ts'
import type { RuntimeFacts } from '../../core/resume/runtime.ts'
import type { RunEffect } from '../base/transaction.ts'
import type { Keeper } from './process-records.ts'
import type { Done, RunSpend } from './records.ts'
import type { SessionUpdate } from './session-records.ts'

export interface AttemptRecord {
  id: AttemptId
  runId: RunId
  number: number
  state: 'planned' | 'running' | 'ended'
  sessionId: SessionId
  agentSessionId: string
  resumed: boolean
  freshReason: FreshReason | null
  carry: Carry
  promptId: string
  /** A conversation's: the epoch of the history it was given. */
  epoch: number | null
  /** The hash of the texts said once that its session has after its prompt. */
  told: string | null
  /** `compact`: it only made room in the session. */
  kind: 'turn' | 'compact'
  /** What was started; null if that was not recorded. */
  runtime: RuntimeFacts | null
  fence: number
  processId: ProcessId
  /** The keeper of its process; null: that is not known yet. */
  process: Keeper | null
  /** Where its output begins in the spool of its process. */
  spoolFrom: number
  /** How far its output is read and stored. */
  spoolOffset: number
  /** Before it, if something that was read is not stored yet: from here on it must be read again. */
  heldFrom: number | null
  /** In time that somebody watched: what it has worked, and waited for the answer to the oldest open question. */
  watched: { workedMs: number; waitingMs: number }
  /** Of a resumed one that has ended. */
  cacheUse: CacheUse | null
  stopCause: string | null
  exitCode: number | null
  outcome: Outcome | null
  /** What the process had reported as its cost when the attempt began. */
  costFromUsd: number
  costUsd: number | null
  startedAt: Date
  endedAt: Date | null
}

export type NewAttempt = Pick<
  AttemptRecord,
  | 'id'
  | 'runId'
  | 'agentSessionId'
  | 'resumed'
  | 'freshReason'
  | 'carry'
  | 'promptId'
  | 'sessionId'
  | 'startedAt'
> &
  Partial<Pick<AttemptRecord, 'epoch' | 'told' | 'kind' | 'runtime'>>

export interface AttemptEnding {
  attempt: AttemptRecord
  /** Of the run, as they were when the ending was worked out. */
  outdatedAttempts?: number
  outcome: Outcome
  exitCode: number | null
  /** null: the price of its model is not known yet. */
  costUsd: number | null
  session: SessionUpdate
  cacheUse?: CacheUse | null
  /** A session that was held to have refused its resume, and is shown not to be the cause: the run returns to it. */
  acquitted?: SessionId | null
  /** The run's totals, this attempt included; its cost is the sum of what is stored with its attempts. */
  spend: Omit<RunSpend, 'costUsd'>
  done: Done
  resultText: string | null
  /** What it counts against the run's resumes. */
  strikes: number
  next:
    | { kind: 'settle'; outcome: Outcome }
    | { kind: 'retry'; notBefore: Date; why: string; heldBy?: string | null }
    | { kind: 'pause'; why: string; heldBy?: string | null }
  events: readonly EventBody[]
  /** What follows from it for features. */
  effects?: readonly RunEffect[]
  at: Date
}

export interface QuestionRecord {
  attemptId: AttemptId
  runId: RunId
  ask: EventOf<'question-ask'> | EventOf<'permission-ask'>
  askedAt: Date
  answer: Omit<ToolResult, 'toolUseId'> | null
  answeredAt: Date | null
  /** When it no longer stood: the tool ended, the agent withdrew it, or the attempt was over. */
  closedAt: Date | null
}

/** As it may be shown; `askHash` is of what will really be acted on. */
export interface PendingRecord extends QuestionRecord {
  askHash: string
}
