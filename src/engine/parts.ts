/** What the engine is made of. Everything concrete is handed in by the composition root. */
import type { AgentRegistry } from '../agents/registry.ts'
import type { CheckpointPolicy } from '../contract/job.ts'
import type { PermissionMode } from '../contract/run.ts'
import type { Tier } from '../core/escalation/tier.ts'
import type { Narrowing, Notice, PlannedNotification } from '../core/notify/plan.ts'
import type { PolicyRules } from '../core/policy/policy.ts'
import type { Redactor } from '../core/redact/redactor.ts'
import type { ResumeLimits } from '../core/resume/facts.ts'
import type { SteadyClock } from '../core/steady-clock.ts'
import type { ConfiguredWatch } from '../core/watch/definition.ts'
import type { Git } from '../process/git/run.ts'
import type { Handling } from '../process/handling.ts'
import type { Store } from '../store/store.ts'
import type { Log } from './base/log.ts'
import type { ProgressBus } from './base/progress.ts'
import type { StorageFailures } from './base/storage-failures.ts'
import type { Cooldowns } from './enforce/cooldowns.ts'
import type { Checkpoints } from './jobs/checkpoints.ts'
import type { Obstacles } from './obstacles/obstacles.ts'
import type { ReadingThread } from './supervise/reading/thread.ts'

export interface EngineParts {
  store: Store
  agents: AgentRegistry
  clock: SteadyClock
  git: Git
  checkpoints: Checkpoints
  bus: ProgressBus
  notifications: Notifications
  /** In [0, 1). */
  random: () => number
  log: Log
  /** For what others get to read: texts for another agent, or for people. What is stored as events goes through it anyway. */
  redactor: Redactor
  /** For agents that print more than can be read in passing. */
  readingThread: ReadingThread
  /** Aborted when the engine lets go of everything. */
  closing: AbortSignal
  /** Limits and outages that runs wait behind. */
  obstacles: Obstacles
  /** When the disk took nothing. */
  storageFailures: StorageFailures
  /** The folder that holds one folder per attempt. */
  spool: string
  /** Notes of what is being handled, for the daemon after one that dies of it. */
  handling: Handling
  /** The folder that keeps transcripts as they were before they were mended. */
  damaged: string
  /** The folder that keeps the transcripts of jobs. */
  archive: string
  /** The folder in which agents at tiers find what they should know, and outsiders what they were given. */
  stateDir: string
  cooldowns: Cooldowns
  /** What nobody at a tier may change, besides what the rules say. */
  protectedPaths: readonly string[]
  /** Resolves when the stored times fit the clock. Whoever acts on a deadline waits for it. */
  followClock: () => Promise<void>
  /** A tier waits for a person. */
  onAsk: () => void
  /** An agent has planned a follow-up. */
  onPlanned: () => void
  settings: EngineSettings
}

/** Tells people what happened: plan, store the plan in the transaction in which it happens, then wake. */
export interface Notifications {
  /** `webhook` is the subject's own. */
  plan: (notice: Notice, webhook: string | null, narrowing?: Narrowing) => PlannedNotification[]
  /** The names of those that are configured. */
  targets: readonly string[]
  wake: () => void
  open: () => void
  /** What is being sent is broken off and stays pending. */
  close: () => Promise<void>
  /** Forgets what was sent, or given up, long ago. */
  sweep: () => Promise<void>
}

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
  tiers: ReadonlyMap<number, Tier>
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
