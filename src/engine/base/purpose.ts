/**
 * What a run is for: a job, a turn of a conversation, a tier, a follow-up, or nothing but itself. Every run takes the
 * same path; its purpose is all that differs. The path asks the purpose at each step and names no feature, so a new
 * purpose is a new implementation of this interface and touches none of the path's files.
 *
 * A run has exactly one purpose, found from what is stored with the run (see purposes.ts). A purpose keeps nothing
 * about a run in memory: after a restart it is asked again, about the same stored run.
 */
import type { TierPlan } from '../../agents/adapter.ts'
import type { EventOf } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import type { Budget, Spent } from '../../core/job/budget.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { AddedTexts, Standing } from '../../core/prompt/compose.ts'
import type { PastTurn } from '../../core/prompt/past.ts'
import type { ResumeDecision } from '../../core/resume/decide.ts'
import type { RunEffect } from '../../store/base/transaction.ts'
import type { FiredAs } from '../../store/follow-ups/follow-ups.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'

export interface RunPurpose {
  readonly name: string
  /** Whether the run is of this purpose. Decided by what is stored with it, the same at any time. */
  claims: (run: RunRecord) => boolean
  /** Nobody follows the run: interruptions and timeouts are continued by themselves, and people are told of failures. */
  readonly unattended: boolean
  /** What becomes of a run that has waited for the model as long as it may: it ends, or is paused for a person. */
  readonly afterLongWait: 'settle' | 'pause'

  /** Context: the session that would be resumed, the past that a fresh one would be given, and the brief. */
  readContext: (run: RunRecord) => Promise<RunContext>
  /** What the agent is restricted to, and asked to report; null: nothing. */
  planAgent: (run: RunRecord) => TierPlan | null
  /** The rules that the run's tool calls are held to; null: only what its request says. */
  rulesOf: (run: RunRecord) => Tier | null
  /** The size of the context window, where the purpose names one. */
  contextWindowOf: (run: RunRecord) => number | null

  /** Budget: what the run may spend, and what has been spent of that before its present attempt; null: no limit. */
  readAllowance: (run: RunRecord) => Promise<Allowance | null>

  /** The budget may be raised, or taken away, while the run is under way. */
  readonly raisableBudget: boolean

  /** Before an attempt: what the agent must be told of its work directory, or why the run must not continue. */
  beforeAttempt: (run: RunRecord) => Promise<Outset>
  /** While an attempt runs. Returns what ends it. */
  duringAttempt: (run: RunRecord, attempt: AttemptRecord) => Promise<() => void>
  /** When its process is gone and before the end is stored. Returns notes for the run's events. */
  afterAttempt: (run: RunRecord, ended: EndedAttempt) => Promise<string[]>
  /** What was said in the session outside Reprise is stored where it belongs, once. */
  takeIn: (
    run: RunRecord,
    outside: { session: SessionRecord; turns: readonly OutsideTurn[] },
  ) => Promise<void>

  /** Ending: how an outcome is to be understood. */
  judge: (outcome: Outcome, exitCode: number | null) => Outcome
  /** Ending: what is stored together with the end of an attempt or a run, notices to people included. */
  readEnding: (ending: EndingFacts) => Promise<readonly RunEffect[]>
  /** Called once the end of the run is stored. */
  afterSettled: (run: RunRecord, outcome: Outcome) => Promise<void>

  /** Notices: what people are told of a run that is paused until one of them lets it continue. */
  readPauseNotices: (run: RunRecord, why: string) => Promise<PlannedNotification[]>
  /** Notices: the agent waits for a person's answer. */
  tellOfQuestion: (run: RunRecord, ask: Ask) => Promise<void>

  /** Whether a process that has ended its turn may be kept for a prompt that is due soon. */
  keepsProcess: (run: RunRecord, end: EventOf<'turn-end'>) => boolean
  /** How a prompt that was planned by this run is given to its session later. */
  laterRun: (before: RunRecord, later: LaterPrompt) => Promise<FiredAs>
}

export type Ask = EventOf<'question-ask'> | EventOf<'permission-ask'>

export interface RunContext {
  /** The run as it is now: a turn may have been edited since it was queued. */
  run: RunRecord
  /** Stored together with the start of an attempt; they may refuse it, if the history has changed since it was read. */
  startEffects: readonly RunEffect[]
  session: SessionRecord | null
  /** The epoch of the history that the session was given, and of the one there is now. */
  sessionEpoch: number
  epoch: number
  turns: PastTurn[]
  /** What others said since the session last took part. */
  catchUp: PastTurn[]
  /** Another agent has taken part. */
  otherAgent: boolean
  /** Work was done for this run before it began: it must be handed over to a fresh session. */
  continuesWork: boolean
  /** The runs whose attempts were attempts at the same task, this one included. */
  sameTask: readonly RunRecord[]
  /** The hash of the texts that a session is told once. */
  standingHash: string
  /** The task that the prompt belongs to, where the session was given it before. */
  task: string | null
  /** The past with all that agents did and tools printed, as far as so many characters reach. */
  readWhole: (chars: number) => Promise<{ turns: PastTurn[]; catchUp: PastTurn[] }>
  /** Brief: what the agent is told besides the prompt. */
  readBrief: (facts: BriefFacts) => Promise<Brief>
}

export interface BriefFacts {
  decision: ResumeDecision
  standing: Standing
  /** The agent can be asked for its report by a schema. */
  structuredOutput: boolean
}

export interface Brief {
  texts: AddedTexts
  /** Done right before the agent is started with these texts. */
  beforeLaunch?: () => Promise<void>
}

export interface Allowance {
  budget: Budget
  before: Spent & { usd: number }
}

/** `note` is told to the agent, `said` is a note in the run's events. `stop` settles the run. */
export type Outset =
  | { kind: 'go'; note: string | null; said: string | null }
  | { kind: 'stop'; outcome: Outcome }

export const NOTHING_FOUND: Outset = { kind: 'go', note: null, said: null }

export interface EndedAttempt {
  attempt: AttemptRecord
  /** The agent has taken the prompt: it knows what it was told, and may have worked. */
  tookPrompt: boolean
  /** Set for an attempt whose process was gone already when it was adopted. */
  goneSince: Date | null
  /** The session id that the agent itself gave, where it is another one than we know. */
  reportedSession: string | null
}

export interface EndingFacts {
  /** The run as it will be then: with all it has spent. */
  run: RunRecord
  /** null: the run continues with another attempt. */
  settled: Outcome | null
  /** Where the attempt has left the run; null: there was none, or nothing is known of it. */
  attempt: {
    /** The attempt, if its session holds the question now and can be continued. */
    took: AttemptRecord | null
    /** The session also has what was added to the question. */
    informed: boolean
    structured: unknown
    text: string | null
    exitCode: number | null
  } | null
}

export interface LaterPrompt {
  followUpId: NonNullable<RunRecord['links']['followUpId']>
  prompt: string
  promptId: string
  at: Date
}
