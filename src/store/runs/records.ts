/** Runs as the store gives and takes them. A state carries only its own fields; nullable columns stay in the store. */
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
import type { Carry, FreshReason, PermissionMode } from '../../contract/run.ts'
import type { Tx } from '../base/transaction.ts'

export interface RunRequest {
  permissions: PermissionMode
  forceFreshSession: boolean
  maxDurationMs: number | null
  maxResumes: number | null
  /** Of one attempt. */
  maxTurns: number | null
  /** Set if the run goes on by itself after `maxTurns`: over all of its attempts. */
  turnsInAll?: number | undefined
  maxBudgetUsd: number | null
  /** Nothing may be changed. Left out where it is not so, as it was before there was such a thing. */
  dryRun?: true | undefined
  /** Of a run at a tier: what holds for its whole chain. */
  chain?: ChainLimits | undefined
}

export interface ChainLimits {
  maxTier: number
  budgetUsd: number | null
  /** About the place: what an agent that starts fresh should know of it. */
  environment: string | null
  /** What the first run was asked, where the run before has another prompt: a follow-up's. */
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
  /** Of the newest attempt. */
  decision: { resumed: boolean; freshReason: FreshReason | null; carry: Carry } | null
  attemptCount: number
  /** Its first attempts, so many, were at another text: its question has been edited since. */
  outdatedAttempts: number
  /** What its interrupted attempts count, see core/continue. */
  strikes: number
  resumeCount: number
  resultText: string | null
  /** Of the newest attempt's text, and of what it would have been with the whole history. */
  sent: Sent | null
  spend: RunSpend
  /** Of its ended attempts. */
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
    /** The job or run that it descends from by follow-ups, and whose budget it draws on. */
    budgetOf: JobId | RunId | null
  }
  createdAt: Date
  startedAt: Date | null
}

export interface Sent {
  promptChars: number
  transcriptChars: number
  /** What of the past is not in the text. */
  leftOut: LeftOut | null
}

export interface Done {
  modelCalls: number
  toolCalls: number
  /** Tool calls and starts of programs that the rules forbade. */
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
  /** The turn it is to answer. */
  conversation?: { id: ConversationId; turn: number }
  /** The job it works on. */
  job?: { id: JobId; priority: number; place: string; holdsPlace: boolean }
  /** The tier it works at, and the run that called it. */
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
  /** How long the body is, as stored. */
  chars: number
}

/** A run that is to be admitted in somebody else's transaction. */
export interface RunAdmission {
  runId: RunId
  admit: (tx: Tx) => Promise<RunRecord>
}
