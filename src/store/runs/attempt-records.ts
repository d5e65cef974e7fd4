/** Attempts, how they end, and what they ask. */
import type { CacheUse } from '../../contract/cache.ts'
import type { EventBody, EventOf } from '../../contract/events.ts'
import type { AttemptId, ProcessId, RunId, SessionId } from '../../contract/ids.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { ToolResult } from '../../contract/question.ts'
import type { Carry, FreshReason } from '../../contract/run.ts'
import type { SandboxName } from '../../contract/sandbox.ts'
import type { DirectorySettings } from '../../contract/trust.ts'
import type { Binding } from '../../core/kept/binding.ts'
import type { RuntimeFacts } from '../../core/resume/runtime.ts'
import type { RunEffect } from '../base/transaction.ts'
import type { Keeper, Kept } from './process-records.ts'
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
  /** In a conversation: the epoch of the history that the attempt was given. */
  epoch: number | null
  /** The hash of the one-time texts (such as instructions) that its session has after its prompt. */
  told: string | null
  /** `compact`: the attempt only compacted the session. */
  kind: 'turn' | 'compact'
  /** The runtime that was started; null if that was not recorded. */
  runtime: RuntimeFacts | null
  fence: number
  processId: ProcessId
  /** The keeper of its process; null: not known yet. */
  process: Keeper | null
  /** The folder of its process, named after the first attempt in it. The name also marks the processes of the agent. */
  spool: string
  /** Its process may be kept after the turn. */
  keepable: boolean
  /** The position in the spool of its process where its output begins. */
  spoolFrom: number
  /** The position up to which its output is read and stored. */
  spoolOffset: number
  /**
   * A position before `spoolOffset`, set if something that was read is not stored yet: it must be read again from here.
   */
  heldFrom: number | null
  /** In watched time: how long it has worked, and how long it has waited for the answer to the oldest open question. */
  watched: { workedMs: number; waitingMs: number }
  /** Set only for resumed attempts that have ended. */
  cacheUse: CacheUse | null
  stopCause: string | null
  exitCode: number | null
  outcome: Outcome | null
  /** The cost that the process had reported when the attempt began. */
  costFromUsd: number
  costUsd: number | null
  /** How full the context was after it; null: it has not ended, or the agent did not report it. */
  contextTokens: number | null
  contextWindow: number | null
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
  Partial<Pick<AttemptRecord, 'epoch' | 'told' | 'kind' | 'runtime'>> & {
    /** Where its processes live; stored with the run. */
    sandbox?: SandboxName
    /** Whether the settings of the work directory apply; stored with the run. */
    directorySettings?: DirectorySettings
    /** What its process is started with, if the process may be kept. */
    binding?: Binding | null
  }

export interface AttemptEnding {
  attempt: AttemptRecord
  /** The run's number of outdated attempts when the ending was computed. */
  outdatedAttempts?: number
  outcome: Outcome
  exitCode: number | null
  /** null: the price of its model is not known yet. */
  costUsd: number | null
  session: SessionUpdate
  cacheUse?: CacheUse | null
  /**
   * A session that was recorded as having refused its resume and turned out not to be the cause: the run returns to it.
   */
  clearedSessionId?: SessionId | null
  /** The run's totals, including this attempt. The cost is the sum of the costs that are stored with its attempts. */
  spend: Omit<RunSpend, 'costUsd'>
  done: Done
  resultText: string | null
  /** What it counts against the run's resumes. */
  interruptions: number
  next:
    | { kind: 'settle'; outcome: Outcome }
    | { kind: 'retry'; notBefore: Date; why: string; heldBy?: string | null }
    | { kind: 'pause'; why: string; heldBy?: string | null }
  events: readonly EventBody[]
  /** Messages that the agent had taken but not written into its session when it died. */
  lostMessages?: readonly string[]
  /** The process does not end with the attempt: it is kept for the next turn. */
  keep?: Kept | null
  /** The effects on features. */
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
  /** When the question was closed: the tool ended, the agent withdrew it, or the attempt ended. */
  closedAt: Date | null
}

/** Redacted for display; `askHash` is the hash of the original. */
export interface PendingRecord extends QuestionRecord {
  askHash: string
}
