/**
 * Runs as the store returns and accepts them. A state carries only its own fields; nullable columns stay inside the
 * store.
 */

import type { PermissionMode } from '../../contract/create-run.ts'
import type { EventBody } from '../../contract/events.ts'
import type {
  AttemptId,
  ConversationId,
  CycleId,
  FollowUpId,
  JobId,
  RunId,
  SessionId,
} from '../../contract/ids.ts'
import type { LeftOut } from '../../contract/left-out.ts'
import type { Outcome, Usage } from '../../contract/outcome.ts'
import type { Carry, FreshReason } from '../../contract/run.ts'
import type { RunMessageState } from '../../contract/run-message.ts'
import type { SandboxName } from '../../contract/sandbox.ts'
import type { DirectorySettings } from '../../contract/trust.ts'
import type { Tx } from '../base/transaction.ts'

export interface RunRequest {
  permissions: PermissionMode
  forceFreshSession: boolean
  maxDurationMs: number | null
  maxResumes: number | null
  /** The limit for one attempt. */
  maxTurns: number | null
  /** The limit over all attempts; set if the run continues by itself after `maxTurns`. */
  turnsInAll?: number | undefined
  maxBudgetUsd: number | null
  /** Set if the agent must not change anything; absent otherwise, so that older requests keep their hash. */
  dryRun?: true | undefined
  /** Whether the run must be in a sandbox, whatever is configured. Absent: what earlier runs of its conversation or session said. */
  sandbox?: boolean | undefined
  /** Rules of the work directory, in addition to those of the configuration. */
  policy?: { never: readonly string[]; protectedPaths: readonly string[] } | undefined
  /** Limits for the whole chain; set only for runs at a tier. */
  chain?: ChainLimits | undefined
  /** Marks the run of a further purpose (engine/purposes.ts), with what that purpose needs to know. */
  purpose?: { name: string; data?: unknown } | undefined
}

export interface ChainLimits {
  maxTier: number
  budgetUsd: number | null
  /** Describes the environment to an agent that starts a new session. */
  environment: string | null
  /** The prompt of the first run, set if the previous run has another one, such as that of a follow-up. */
  task?: string | undefined
}

export type RunState =
  | { at: 'queued'; notBefore: Date | null; why: string | null; paused: boolean }
  | { at: 'running' }
  | { at: 'settled'; outcome: Outcome; endedAt: Date }

export interface RunRecord {
  id: RunId
  agent: string
  model: string | null
  workDir: string
  prompt: string
  /** The UUID under which the prompt is given to the agent, the same for every attempt. */
  promptId: string
  request: RunRequest
  state: RunState
  sessionId: SessionId | null
  cancelRequested: boolean
  /** The decision for the newest attempt. */
  decision: { resumed: boolean; freshReason: FreshReason | null; carry: Carry } | null
  /** Where the processes of its last attempt live or lived; null: not known. */
  sandbox: SandboxName | null
  /** Whether the settings of the work directory apply in the last attempt. null: not started. */
  directorySettings: DirectorySettings | null
  attemptCount: number
  /** The number of first attempts that worked on an older text: the question has been edited since. */
  outdatedAttempts: number
  /** What its interrupted attempts count, see core/continue. */
  interruptions: number
  resumeCount: number
  resultText: string | null
  /** The length of the newest attempt's text, and its length with the whole history. */
  sent: Sent | null
  spend: RunSpend
  /** The work of its ended attempts. */
  done: Done
  priority: number
  place: string | null
  links: {
    parentRunId: RunId | null
    tier: number | null
    conversationId: ConversationId | null
    /** The turn of the conversation. */
    turn: number | null
    jobId: JobId | null
    cycleId: CycleId | null
    /** The follow-up whose prompt it has. */
    followUpId: FollowUpId | null
    /** The job or run that it descends from by follow-ups, and whose budget it uses. */
    budgetOf: JobId | RunId | null
  }
  createdAt: Date
  startedAt: Date | null
}

export interface Sent {
  promptChars: number
  transcriptChars: number
  /** The part of the history that is not in the text. */
  leftOut: LeftOut | null
}

export interface Done {
  modelCalls: number
  toolCalls: number
  /** The number of tool calls and program starts that the rules forbade. */
  refusals: number
}

export interface RunSpend {
  usage: Usage
  costUsd: number | null
  estimated: boolean
  contextTokens: number | null
  contextWindow: number | null
}

/** What a run has spent. */
export interface SpendOfRun extends Pick<RunSpend, 'usage' | 'costUsd'> {
  runId: RunId
}

export interface NewRun {
  id: RunId
  idempotencyKey: string | null
  agent: string
  model: string | null
  workDir: string
  prompt: string
  promptId: string
  request: RunRequest
  sessionId: SessionId | null
  /** The turn that it answers. */
  conversation?: { id: ConversationId; turn: number }
  /** The job that it works on. */
  job?: { id: JobId; priority: number; place: string; holdsPlace: boolean }
  /** Its tier, and the run that escalated to it. */
  tier?: { number: number; parentRunId: RunId | null }
  cycleId?: CycleId | null
  followUpId?: FollowUpId | null
  budgetOf?: JobId | RunId | null
  createdAt: Date
}

export interface StoredEvent {
  runId: RunId
  seq: number
  attemptId: AttemptId | null
  at: Date
  body: EventBody
  /** The length of the stored body. */
  chars: number
}

/** A run that is to be admitted in the transaction of another feature. */
export interface RunAdmission {
  runId: RunId
  admit: (tx: Tx) => Promise<RunRecord>
}

/** A message for the agent of a run; see messages.ts. The id is also that of the message for the agent. */
export interface RunMessageRecord {
  id: string
  runId: RunId
  text: string
  from: string | null
  state: RunMessageState
  saidAt: Date
  readAt: Date | null
  nextRunId: RunId | null
  closedAt: Date | null
}
