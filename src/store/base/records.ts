/** What the store gives and takes. A state carries only its own fields; nullable columns stay below. */

import type { CacheUse } from '../../contract/cache.ts'
import type { ContentBlock, HistoryScope, MessageOrigin } from '../../contract/conversation.ts'
import type { Escalation } from '../../contract/escalation.ts'
import type { EventBody, EventOf } from '../../contract/events.ts'
import type {
  ActionId,
  AttemptId,
  ConversationId,
  CycleId,
  FollowUpId,
  JobId,
  MessageId,
  NotificationId,
  RunId,
  SessionId,
} from '../../contract/ids.ts'
import type { Attention, CheckpointKind, CheckpointPolicy, JobState } from '../../contract/job.ts'
import type { LeftOut } from '../../contract/left-out.ts'
import type { Outcome, Usage } from '../../contract/outcome.ts'
import type { Carry, FreshReason, PermissionMode, ToolResult } from '../../contract/run.ts'
import type { CacheState } from '../../core/cost/cache.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { Action } from '../../core/policy/cooldown.ts'
import type { RuntimeFacts } from '../../core/resume/runtime.ts'

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
  process: { pid: number; startTicks: string; bootId: string } | null
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

export interface SessionRecord {
  id: SessionId
  agent: string
  agentSessionId: string
  workDir: string
  workDirId: string | null
  runtimeId: string
  /** What wrote it last; null if that is not known. */
  runtime: RuntimeFacts | null
  epoch: number
  /** The session whose history this one was started with. */
  continues: SessionId | null
  poison: { refused: boolean; message: string } | null
  /** The hash of the texts said once that it was told last; null: none yet. */
  told: string | null
  /** It has been compacted since: what was said once may be gone. */
  compacted: boolean
  /** What its last call left in the prompt cache; null: that is not known. */
  cacheState: CacheState | null
  turns: number
  resumes: number
  contextTokens: number | null
  contextWindow: number | null
  costUsd: number
  createdAt: Date
  lastUsedAt: Date
}

/** What an ended attempt changes about its session. */
export interface SessionUpdate {
  /** What it leaves in the prompt cache; null: as before. */
  cacheState?: CacheState | null
  /** The id the agent itself reported, where it is another one than we assigned. */
  agentSessionId: string | null
  turns: number
  /** What it has been told; null: as before. */
  told: Pick<SessionRecord, 'told' | 'compacted'> | null
  poison: SessionRecord['poison']
  contextTokens: number | null
  contextWindow: number | null
}

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
  /** What a conversation keeps of it, and who is to be told. */
  turn?: TurnEnding | null
  /** Of a run at a tier: what follows from it. */
  tier?: TierEnding | null
  notices?: readonly PlannedNotification[]
  at: Date
}

/** What follows from a run that settles without an attempt. */
export interface RunEnding {
  turn: TurnEnding | null
  tier?: TierEnding | null
  notices: readonly PlannedNotification[]
}

export type EscalationRecord = Omit<Escalation, 'decidedAt' | 'expiresAt' | 'askHash'> & {
  decidedAt: Date
  expiresAt: Date | null
}

export interface TierEnding {
  escalation: EscalationRecord
  /** The run of the next tier. */
  next: NewRun | null
  /** Who is to be told. */
  notices: readonly PlannedNotification[]
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

export interface StoredEvent {
  runId: RunId
  seq: number
  attemptId: AttemptId | null
  at: Date
  body: EventBody
  /** How long the body is, as stored. */
  chars: number
}

/** A guarded write found that someone else owns the row now: stop, it is theirs. */
export class OwnershipLost extends Error {
  override readonly name = 'OwnershipLost'
  constructor(what: string) {
    super(`${what} is owned by someone else now`)
  }
}

/** An ending was worked out for a question that has been edited since: work it out again. */
export class QuestionEdited extends Error {
  override readonly name = 'QuestionEdited'
}

export interface ConversationRecord {
  id: ConversationId
  title: string
  agent: string
  workDir: string
  instructions: string | null
  historyScope: HistoryScope
  turnCount: number
  /** Counts the changes to what has been said. */
  revision: number
  createdAt: Date
  updatedAt: Date
}

export type NewConversation = Omit<ConversationRecord, 'turnCount' | 'revision' | 'updatedAt'>

export interface MessageRecord {
  id: MessageId
  conversationId: ConversationId
  turn: number
  role: 'user' | 'assistant'
  agent: string
  blocks: ContentBlock[]
  state: 'complete' | 'cancelled' | 'failed'
  revision: number
  runId: RunId | null
  origin: MessageOrigin
  createdAt: Date
  editedAt: Date | null
}

export interface PinRecord {
  conversationId: ConversationId
  agent: string
  epoch: number
  sessionId: SessionId | null
  sessionEpoch: number | null
  sinceTurn: number | null
  seenTurn: number | null
}

/** What a turn that has ended leaves in its conversation. */
export interface TurnEnding {
  conversationId: ConversationId
  turn: number
  agent: string
  runId: RunId
  answer: Pick<MessageRecord, 'id' | 'blocks' | 'state'> | null
  /** The run goes on with another attempt: only what a pinned session has seen is noted. */
  goesOn: boolean
  /** null: the session did not take the turn in; the pin stays as it is. */
  pin: Pick<PinRecord, 'sessionId' | 'sessionEpoch'> | null
}

export interface JobOptions {
  checkpoints: CheckpointPolicy | null
  /** The top of the work tree that is checkpointed. */
  workTree: string | null
  webhook: string | null
}

export interface JobRecord {
  id: JobId
  runId: RunId
  state: JobState
  attention: Attention | null
  options: JobOptions
  priority: number
  maxBudgetUsd: number | null
  maxBudgetTokens: number | null
  createdAt: Date
  updatedAt: Date
}

export type NewJob = Pick<
  JobRecord,
  'id' | 'options' | 'priority' | 'maxBudgetUsd' | 'maxBudgetTokens' | 'createdAt'
> & { idempotencyKey: string | null; requestHash: string }

export interface CheckpointRecord {
  jobId: JobId
  number: number
  kind: CheckpointKind
  ref: string
  commit: string
  tree: string
  head: string | null
  attemptId: AttemptId | null
  createdAt: Date
}

export interface NotificationRecord extends PlannedNotification {
  id: NotificationId
  state:
    | { at: 'pending'; notBefore: Date }
    | { at: 'delivered'; deliveredAt: Date }
    | { at: 'given-up'; givenUpAt: Date }
  tries: number
  /** Of the last try that failed. */
  lastError: string | null
  createdAt: Date
}

export interface ActionRecord extends Action {
  id: ActionId
  runId: RunId
  attemptId: AttemptId
  toolUseId: string | null
  /** Who noted it: the boundary of the tool, from the text; or the guard, when it started unseen. */
  line: 'tool' | 'guard'
  /** From when it counts. */
  at: Date
  /** When the guard saw it start. */
  startedAt: Date | null
}
