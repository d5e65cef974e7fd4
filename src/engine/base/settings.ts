/** The settings of the engine: plain values, made from the configuration by the composition root. */
import type { CheckpointPolicy } from '../../contract/checkpoint.ts'
import type { PermissionMode } from '../../contract/create-run.ts'
import type { TierSettings } from '../../core/escalation/tier.ts'
import type { KeptLimits } from '../../core/kept/who-goes.ts'
import type { ResumeLimits } from '../../core/resume/facts.ts'
import type { LifecycleLimits } from '../../core/session/lifecycle.ts'
import type { RuleSettings } from '../../core/shell/tool-rules.ts'
import type { ConfiguredWatch } from '../../core/watch/definition.ts'

export interface EngineSettings {
  concurrency: number
  /** Concurrency limits of single agents, by agent name. */
  agentConcurrency: Readonly<Record<string, number>>
  resume: ResumeLimits
  sessions: LifecycleLimits
  permissions: PermissionMode
  maxDurationMs: number
  idleTimeoutMs: number
  hangAfterResultMs: number
  questionTimeoutMs: number
  termAfterMs: number
  killAfterMs: number
  maxOutputBytes: number
  maxLineBytes: number
  /** New attempts wait while a disk has less free space. 0: never. */
  minFreeBytes: number
  keep: KeepSettings
  /** Applies to every run: agents may not change anything. */
  dryRun: boolean
  sandbox: SandboxSettings
  /** The names of programs that run outside the sandbox. */
  brokered: readonly string[]
  /** How long a run waits for an unavailable model before it is left to a person. */
  outageLimitMs: number
  jobs: JobSettings
  escalation: EscalationSettings
  watches: readonly ConfiguredWatch[]
  followUps: FollowUpSettings
  kept: KeptLimits
}

/** How long things are kept after their end or last use. Infinity: forever. */
export interface KeepSettings {
  runsMs: number
  eventsMs: number
  /** 0: no copies of transcripts are made. */
  transcriptsMs: number
  sessionsMs: number
  /** The raw output of ended attempts. */
  outputMs: number
  /** The checkpoints of ended jobs. */
  checkpointsMs: number
  /** The record of who did what. */
  auditMs: number
}

export interface SandboxSettings {
  /** Runs without a tier are in a sandbox, too. */
  runs: boolean
  /** A tier does not start where there is no sandbox. Otherwise its rules are advisory there. */
  tiersNeedIt: boolean
}

export interface FollowUpSettings {
  /** The process that planned a follow-up is kept for it if the follow-up is due within this time. */
  holdMs: number
  /** The limit for one session, or one chain of runs. */
  maxPending: number
  /** How far ahead a follow-up that belongs to no cycle may be planned. */
  maxAheadMs: number
  maxPendingTotal: number
}

export interface EscalationSettings {
  tiers: ReadonlyMap<number, TierSettings>
  rules: RuleSettings
  maxTier: number
  /** The budget of a chain whose request names none. */
  budgetUsd: number | null
  approvalTimeoutMs: number
}

export interface JobSettings {
  /** The first pause after a temporary failure. */
  backoffMs: number
  /** How long an agent may wait by itself for a limit to reset. For longer waits it is stopped, and the job waits. */
  holdMs: number
  /** How many jobs may work in one directory at the same time. */
  perWorkDir: number
  /** The default for jobs that do not specify it. */
  checkpoints: boolean
  checkpointPolicy: CheckpointPolicy
}
