/**
 * A job: a prompt to finish with nobody watching. One run at a time works on it; what interrupts that run (a crash, a
 * timeout, a lost connection, a restart, a limit) is followed by another attempt at the same run. Only what needs a
 * person ends the run and pauses the job; their retry, or a raised budget, is the job's next run, in the same session.
 *
 *   queued ⇄ running ⇄ waiting        queued: for a place. waiting: until `waitingUntil`, then it goes on by itself.
 *               ├──→ paused           needs a person, `attention` says what for; a retry goes on from here
 *               ├──→ completed        final
 *               └──→ failed, cancelled   a retry goes on from here
 */
import { z } from 'zod'
import { AttemptId, JobId, RunId, SessionId, SessionRef } from './ids.ts'
import { OutcomeName, Usage } from './outcome.ts'
import {
  Attempt,
  CreateRun,
  MaxDurationMs,
  ModelName,
  PendingQuestion,
  PermissionMode,
  WorkDir,
} from './run.ts'

export const JOB_STATES = [
  'queued',
  'running',
  'waiting',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const
export const JobState = z.enum(JOB_STATES)
export type JobState = z.infer<typeof JobState>

export const ATTENTIONS = [
  'budget',
  'turn-limit',
  'question',
  'auth',
  'work-dir',
  'quarantine',
  'outage',
  'limit',
] as const
/**
 * What a paused job needs: more budget, more turns, an answer, a login, somebody to look at its directory, somebody to
 * decide whether it is tried again although the daemon died of it, or somebody to find out why the model has been away, or
 * the account limited, for so long.
 */
export const Attention = z.enum(ATTENTIONS)
export type Attention = z.infer<typeof Attention>

export const CHANGE_POLICIES = ['continue', 'restore', 'stop'] as const
/**
 * What to do when, before it goes on, a job's work tree is not as its agent left it. `continue`: tell the agent what
 * changed. `restore`: back to the checkpoint, the present state saved first. `stop`: pause the job.
 */
export const ChangePolicy = z.enum(CHANGE_POLICIES)
export type ChangePolicy = z.infer<typeof ChangePolicy>

export const CheckpointPolicy = z.strictObject({
  /** Between attempts' ends as well, this often. */
  everyMs: z.number().int().min(1000).max(86_400_000),
  onChange: ChangePolicy,
})
export type CheckpointPolicy = z.infer<typeof CheckpointPolicy>

const MaxBudgetUsd = z.number().positive().max(1_000_000)
const MaxBudgetTokens = z.number().int().positive().max(1_000_000_000_000)
const Priority = z.number().int().min(-100).max(100)
const WebhookUrl = z.url({ protocol: /^https?$/, error: 'expected an http or https address' }).max(2048)

export const CreateJob = z.strictObject({
  prompt: CreateRun.shape.prompt,
  agent: z.string().max(64).optional(),
  model: ModelName.optional(),
  workDir: WorkDir,
  /** Go on in this session, if that is safe. */
  sessionId: SessionRef.optional(),
  forceFreshSession: z.boolean().optional(),
  permissions: PermissionMode.optional(),
  /** Of one attempt. */
  timeoutMs: MaxDurationMs.optional(),
  maxResumes: CreateRun.shape.maxResumes,
  maxTurns: CreateRun.shape.maxTurns,
  continue: CreateRun.shape.continue,
  maxTurnsTotal: CreateRun.shape.maxTurnsTotal,
  /** Over all attempts and retries together. */
  maxBudgetUsd: MaxBudgetUsd.optional(),
  maxBudgetTokens: MaxBudgetTokens.optional(),
  /** Higher ones start first. */
  priority: Priority.optional(),
  checkpoints: z.union([z.boolean(), CheckpointPolicy.partial()]).optional(),
  /** Told when the job is done, has failed, or needs a person; besides those of the configuration. */
  webhook: WebhookUrl.optional(),
})
export type CreateJob = z.infer<typeof CreateJob>

export const UpdateJob = z
  .strictObject({
    /** null takes the limit away. */
    maxBudgetUsd: MaxBudgetUsd.nullable().optional(),
    maxBudgetTokens: MaxBudgetTokens.nullable().optional(),
    priority: Priority.optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: 'expected at least one of maxBudgetUsd, maxBudgetTokens, priority',
  })
export type UpdateJob = z.infer<typeof UpdateJob>

/** How far it has come: over all its runs, and of the running attempt as far as its output has been read. */
export const JobProgress = z.object({
  /** Calls to the model, those of sub-agents included. */
  modelCalls: z.number().int(),
  toolCalls: z.number().int(),
  /** Of every kind, cached ones too. */
  tokens: z.number(),
  costUsd: z.number().nullable(),
  elapsedMs: z.number().nullable(),
  lastActivityAt: z.iso.datetime().nullable(),
  /** The tool that is running now. */
  tool: z.string().nullable(),
})
export type JobProgress = z.infer<typeof JobProgress>

/**
 * What counts against the budget of a job: its own runs, the attempt that is running, and all runs that descend from them
 * by follow-ups. What has no price yet counts as much as it can have cost.
 */
export const JobSpent = z.object({
  usd: z.number(),
  tokens: z.number().int(),
  /** How many runs of follow-ups are among that. */
  followUpRuns: z.number().int(),
})
export type JobSpent = z.infer<typeof JobSpent>

export const Job = z.object({
  id: JobId.schema,
  state: JobState,
  attention: Attention.nullable(),
  /** Why it waits, what it needs, or how it ended. */
  message: z.string().nullable(),
  /** Of a waiting job. Once that has passed, it waits for a place. */
  waitingUntil: z.iso.datetime().nullable(),
  agent: z.string(),
  model: z.string().nullable(),
  workDir: z.string(),
  prompt: z.string(),
  permissions: PermissionMode,
  priority: z.number().int(),
  /** The run that works on it, or did last. */
  runId: RunId.schema,
  outcome: OutcomeName.nullable(),
  resultText: z.string().nullable(),
  /** The agent's own id of the session, and when it was stored: before the agent was started. */
  sessionId: z.string().nullable(),
  sessionSavedAt: z.iso.datetime().nullable(),
  session: SessionId.schema.nullable(),
  attemptCount: z.number().int(),
  resumeCount: z.number().int(),
  timeoutMs: z.number().nullable(),
  maxResumes: z.number().int(),
  maxBudgetUsd: z.number().nullable(),
  maxBudgetTokens: z.number().nullable(),
  /** Of the job's own runs, as far as they have ended; null while a price is not known. */
  usage: Usage,
  costUsd: z.number().nullable(),
  costEstimated: z.boolean(),
  spent: JobSpent,
  progress: JobProgress,
  checkpointPolicy: CheckpointPolicy.nullable(),
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
})
export type Job = z.infer<typeof Job>

/**
 * `start`: before the agent began. `agent`: what an attempt left, or had made so far. `found`: what was there when
 * Reprise came back after a time in which others may have changed it. `saved`: what a restore was about to overwrite.
 */
export const CheckpointKind = z.enum(['start', 'agent', 'found', 'saved'])
export type CheckpointKind = z.infer<typeof CheckpointKind>

export const Checkpoint = z.object({
  number: z.number().int(),
  kind: CheckpointKind,
  ref: z.string(),
  commit: z.string(),
  /** The commit that was checked out. */
  head: z.string().nullable(),
  attemptId: AttemptId.schema.nullable(),
  createdAt: z.iso.datetime(),
})
export type Checkpoint = z.infer<typeof Checkpoint>

export const JobAttempt = Attempt.extend({ runId: RunId.schema })
export type JobAttempt = z.infer<typeof JobAttempt>

export const JobDetail = Job.extend({
  runIds: z.array(RunId.schema),
  attempts: z.array(JobAttempt),
  checkpoints: z.array(Checkpoint),
  pending: z.array(PendingQuestion),
  /** Copies that Reprise keeps of the agent's transcripts. */
  archived: z.array(z.object({ sessionId: z.string(), bytes: z.number(), path: z.string() })),
})
export type JobDetail = z.infer<typeof JobDetail>

export const CheckpointDiff = z.object({
  from: z.number().int(),
  /** null: the work tree as it is now. */
  to: z.number().int().nullable(),
  files: z.array(z.object({ status: z.string(), path: z.string() })),
  patch: z.string(),
  /** The patch was too long and ends early. */
  truncated: z.boolean(),
})
export type CheckpointDiff = z.infer<typeof CheckpointDiff>
