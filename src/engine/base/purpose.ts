/**
 * What a run is for: a job, a turn of a conversation, a tier, a follow-up, or none of these. Every run takes the
 * same path; its purpose is all that differs. The path asks the purpose at each step and names no feature, so a new
 * purpose is a new implementation of this interface and touches none of the path's files.
 *
 * A run has exactly one purpose, found from what is stored with the run (see purposes.ts). A purpose keeps nothing
 * about a run in memory: after a restart it is asked again, about the same stored run.
 */
import type { AgentOptions, TierPlan } from '../../agents/adapter.ts'
import type { EventOf } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Tier } from '../../core/escalation/tier.ts'
import type { OutsideTurn } from '../../core/history/outside.ts'
import type { Budget, Spent } from '../../core/job/budget.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import type { AddedTexts } from '../../core/prompt/added-texts.ts'
import type { Standing } from '../../core/prompt/compose.ts'
import type { PastTurn } from '../../core/prompt/past.ts'
import type { ResumeDecision } from '../../core/resume/decide.ts'
import type { RunEffect } from '../../store/base/transaction.ts'
import type { FiredAs } from '../../store/follow-ups/follow-ups.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'

export interface RunPurpose {
  readonly name: string
  /** Whether the run has this purpose. Depends only on what is stored with the run, so the answer never changes. */
  claims: (run: RunRecord) => boolean
  /**
   * Nobody follows the run: it continues by itself after interruptions and timeouts, and people are notified of
   * failures.
   */
  readonly unattended: boolean
  /** Whether a run that has waited for the model as long as allowed is settled, or paused for a person. */
  readonly afterLongWait: 'settle' | 'pause'

  /** Context: the session that would be resumed, the history that a new session would get, and the brief. */
  readContext: (run: RunRecord) => Promise<RunContext>
  /** The agent's restrictions and the report that it must make; null if it has neither. */
  planAgent: (run: RunRecord) => TierPlan | null
  /** The agent's options that a program which embeds Reprise has chosen; null if it chose none. */
  agentOptions: (run: RunRecord) => AgentOptions | null
  /** The rules that the run's tool calls must follow; null if only the permissions of its request apply. */
  rulesOf: (run: RunRecord) => Tier | null
  /** The size of the context window, if the purpose defines one. */
  contextWindowOf: (run: RunRecord) => number | null

  /** Budget: what the run may spend, and what was spent of that before its current attempt; null means no limit. */
  readAllowance: (run: RunRecord) => Promise<Allowance | null>

  /** The budget may be raised or removed while the run is in progress. */
  readonly raisableBudget: boolean

  /**
   * Called before an attempt. Returns what the agent must know about its work directory, or why the run must not
   * continue.
   */
  beforeAttempt: (run: RunRecord) => Promise<Outset>
  /** Starts work that accompanies an attempt, such as periodic checkpoints. Returns a function that stops it. */
  duringAttempt: (run: RunRecord, attempt: AttemptRecord) => Promise<() => void>
  /** Called after the process has ended and before the end is stored. Returns notes for the run's events. */
  afterAttempt: (run: RunRecord, ended: EndedAttempt) => Promise<string[]>
  /** Imports turns that were made in the session outside Reprise. Each of them is imported once. */
  takeIn: (
    run: RunRecord,
    outside: { session: SessionRecord; turns: readonly OutsideTurn[] },
  ) => Promise<void>

  /** Ending: may replace the outcome by one that fits the purpose. */
  judge: (outcome: Outcome, exitCode: number | null) => Outcome
  /** Ending: what is stored in the transaction that ends an attempt or a run, including notifications. */
  readEnding: (ending: EndingFacts) => Promise<readonly RunEffect[]>
  /** Called after the end of the run is stored. */
  afterSettled: (run: RunRecord, outcome: Outcome) => Promise<void>

  /** Notices: the notifications about a run that is paused until a person continues it. */
  readPauseNotices: (run: RunRecord, why: string) => Promise<PlannedNotification[]>
  /** Notices: notifies people that the agent waits for an answer. */
  tellOfQuestion: (run: RunRecord, ask: Ask) => Promise<void>

  /** A process that has completed such a run waits for the next one in the session, if the settings allow it. */
  readonly keepsWarm: boolean
  /** Whether a process that has ended its turn may be kept for a prompt that is due soon. */
  keepsProcess: (run: RunRecord, end: EventOf<'turn-end'>) => boolean
  /** How a prompt that this run planned is sent to its session when it is due. */
  laterRun: (before: RunRecord, later: LaterPrompt) => Promise<FiredAs>
}

export type Ask = EventOf<'question-ask'> | EventOf<'permission-ask'>

export interface RunContext {
  /** The current run: a turn may have been edited since it was queued. */
  run: RunRecord
  /**
   * Stored in the transaction that starts an attempt. They refuse the start if the history has changed since it was
   * read.
   */
  startEffects: readonly RunEffect[]
  session: SessionRecord | null
  /** The epoch of the history that the session was given, and the current epoch. */
  sessionEpoch: number
  epoch: number
  turns: PastTurn[]
  /** Turns by others since the session last took part. */
  catchUp: PastTurn[]
  /** Another agent has taken part. */
  otherAgent: boolean
  /** Earlier runs worked on the same task, so a new session must get a handoff. */
  continuesWork: boolean
  /** The runs that worked on the same task, including this one. */
  sameTask: readonly RunRecord[]
  /** The hash of the standing texts, which a session is given once. */
  standingHash: string
  /** The task that the prompt belongs to, if the session received the task before; otherwise null. */
  task: string | null
  /** The history with everything that agents did and tools printed, up to `chars` characters. */
  readWhole: (chars: number) => Promise<{ turns: PastTurn[]; catchUp: PastTurn[] }>
  /** Brief: the texts that the agent gets in addition to the prompt. */
  readBrief: (facts: BriefFacts) => Promise<Brief>
}

export interface BriefFacts {
  decision: ResumeDecision
  standing: Standing
  /** The agent supports a report by JSON schema. */
  structuredOutput: boolean
}

export interface Brief {
  texts: AddedTexts
  /** Called right before the agent is started with these texts. */
  beforeLaunch?: () => Promise<void>
}

export interface Allowance {
  budget: Budget
  before: Spent & { usd: number }
}

/** `note` is a text for the agent, `said` is a note in the run's events. `stop` settles the run. */
export type Outset =
  | { kind: 'go'; note: string | null; said: string | null }
  | { kind: 'stop'; outcome: Outcome }

export const NOTHING_FOUND: Outset = { kind: 'go', note: null, said: null }

export interface EndedAttempt {
  attempt: AttemptRecord
  /** The agent accepted the prompt, so it knows its texts and may have worked. */
  tookPrompt: boolean
  /** Set if the process had already ended when this daemon adopted the attempt. */
  goneSince: Date | null
  /** The session id that the agent reported, if it differs from the one we know. */
  reportedSession: string | null
}

export interface EndingFacts {
  /** The run as it will be stored, including its total spend. */
  run: RunRecord
  /** null: the run continues with another attempt. */
  settled: Outcome | null
  /** The state in which the attempt left the run; null if there was no attempt, or its state is unknown. */
  attempt: {
    /** The attempt, if its session contains the question now and can be continued. */
    took: AttemptRecord | null
    /** The session also contains the texts that were added to the question. */
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
