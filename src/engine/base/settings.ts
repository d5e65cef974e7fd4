/** The settings of the engine: plain values, made from the configuration by the composition root. */
import type { CheckpointPolicy } from '../../contract/checkpoint.ts'
import type { PermissionMode } from '../../contract/create-run.ts'
import type { TierSettings } from '../../core/escalation/tier.ts'
import type { PolicyRules } from '../../core/policy/policy.ts'
import type { ResumeLimits } from '../../core/resume/facts.ts'
import type { ConfiguredWatch } from '../../core/watch/definition.ts'

export interface EngineSettings {
  concurrency: number
  /** For agents that have a limit of their own. */
  agentConcurrency: Readonly<Record<string, number>>
  resume: ResumeLimits
  sessionIdleMs: number
  permissions: PermissionMode
  maxDurationMs: number
  idleTimeoutMs: number
  hangAfterResultMs: number
  questionTimeoutMs: number
  termAfterMs: number
  killAfterMs: number
  maxOutputBytes: number
  maxLineBytes: number
  /** How long an ended attempt's raw output is kept. */
  keepSpoolMs: number
  /** Of every run: nothing may be changed. */
  dryRun: boolean
  /** How long a run waits for a model that is away before it is left to a person. */
  outageLimitMs: number
  jobs: JobSettings
  escalation: EscalationSettings
  watches: readonly ConfiguredWatch[]
  followUps: FollowUpSettings
}

export interface FollowUpSettings {
  /** One that is due sooner is waited for in the process that asked for it. */
  holdMs: number
  /** In one session, or chain of runs. */
  maxPending: number
  /** Of those that belong to no cycle. */
  maxAheadMs: number
  maxPendingTotal: number
}

export interface EscalationSettings {
  tiers: ReadonlyMap<number, TierSettings>
  rules: PolicyRules
  maxTier: number
  /** Of a chain that names none. */
  budgetUsd: number | null
  approvalTimeoutMs: number
}

export interface JobSettings {
  /** The first pause after what only time cures. */
  backoffMs: number
  /** How long an agent may wait by itself for a limit to reset, before it is ended and the job waits instead. */
  holdMs: number
  /** How many jobs may work in one directory at the same time. */
  perWorkDir: number
  /** For jobs that do not say. */
  checkpoints: boolean
  checkpointPolicy: CheckpointPolicy
  keepArchiveMs: number
  keepCheckpointsMs: number
}
