/**
 * A job: a prompt to finish unattended. One run at a time works on it; after an interruption of that run (a crash, a
 * timeout, a lost connection, a restart, a limit) another attempt at the same run follows. If a person is needed, the
 * run ends and the job is paused; a retry, or a raised budget, starts the job's next run, in the same session.
 *
 *   queued ⇄ running ⇄ waiting        queued: for a free slot. waiting: until `waitingUntil`, then it continues.
 *               ├──→ paused           needs a person, `attention` says what for; a retry continues from here
 *               ├──→ completed        final
 *               └──→ failed, cancelled   a retry continues from here
 */
import { z } from 'zod'
import { Checkpoint, CheckpointPolicy } from './checkpoint.ts'
import { PermissionMode } from './create-run.ts'
import { JobId, RunId, SessionId } from './ids.ts'
import { OutcomeName, Usage } from './outcome.ts'
import { PendingQuestion } from './question.ts'
import { Attempt } from './run.ts'

export const JOB_STATES = [
  'queued',
  'running',
  'waiting',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const
export const JobState = z
  .enum(JOB_STATES)
  .describe(
    '`queued`: waits for a free slot. `waiting`: continues by itself at `waitingUntil`. `paused`: needs a person; `attention` says what for.',
  )
export type JobState = z.infer<typeof JobState>

export const JOB_SORTS = ['newest', 'oldest', 'cost', 'time', 'attempts'] as const
export const JobSort = z
  .enum(JOB_SORTS)
  .describe(
    '`cost`, `time`, `attempts`: the highest first, by the runs that have ended. Jobs that have not ended come first with `time`.',
  )
export type JobSort = z.infer<typeof JobSort>

/** Which jobs a list has, and in which order. */
export interface JobFilters {
  state?: JobState | undefined
  q?: string | undefined
  sort?: JobSort | undefined
}

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
export const Attention = z
  .enum(ATTENTIONS)
  .describe(
    'What a paused job needs: more budget, more turns, an answer, a login, a look at its work directory, a decision whether to retry although the daemon died while handling it, or a look at why the model does not respond or the account has been limited for so long.',
  )
export type Attention = z.infer<typeof Attention>

/** Progress over all runs of the job, including the running attempt as far as its output has been read. */
export const JobProgress = z
  .object({
    modelCalls: z.number().int().describe('Calls to the model, including those of sub-agents.'),
    toolCalls: z.number().int(),
    tokens: z.number().describe('Of every kind, including cached ones.'),
    costUsd: z.number().nullable(),
    elapsedMs: z.number().nullable(),
    lastActivityAt: z.iso.datetime().nullable(),
    tool: z.string().nullable().describe('The tool that is running now.'),
  })
  .meta({ id: 'JobProgress' })
export type JobProgress = z.infer<typeof JobProgress>

export const JobSpent = z
  .object({
    usd: z.number(),
    tokens: z.number().int(),
    followUpRuns: z.number().int().describe('How many runs of follow-ups are included.'),
  })
  .meta({
    id: 'JobSpent',
    description:
      'What counts against the budget of a job: its own runs, the running attempt, and all runs that descend from them by follow-ups. Usage without a known price counts with its highest possible cost.',
  })
export type JobSpent = z.infer<typeof JobSpent>

export const Job = z
  .object({
    id: JobId.schema,
    state: JobState,
    attention: Attention.nullable(),
    message: z.string().nullable().describe('Why the job waits, what it needs, or how it ended.'),
    waitingUntil: z.iso
      .datetime()
      .nullable()
      .describe('Set while the job is `waiting`. After that time it waits for a free slot.'),
    agent: z.string(),
    model: z.string().nullable(),
    workDir: z.string(),
    prompt: z.string(),
    permissions: PermissionMode,
    priority: z.number().int(),
    runId: RunId.schema.describe('The run that works on the job, or the last one that did.'),
    outcome: OutcomeName.nullable(),
    resultText: z.string().nullable(),
    sessionId: z
      .string()
      .nullable()
      .describe("The agent's own id of the session. Reprise's id is `session`."),
    sessionSavedAt: z.iso
      .datetime()
      .nullable()
      .describe('When that id was stored: before the agent was started.'),
    session: SessionId.schema.nullable().describe("Reprise's id of the session (`ses_…`)."),
    attemptCount: z.number().int(),
    resumeCount: z.number().int(),
    timeoutMs: z.number().nullable(),
    maxResumes: z.number().int(),
    maxTurns: z.number().int().nullable().describe('Limit of turns per attempt.'),
    maxTurnsTotal: z
      .number()
      .int()
      .nullable()
      .describe('Limit of turns in total. Set if the job continues automatically after `maxTurns`.'),
    maxBudgetUsd: z.number().nullable(),
    maxBudgetTokens: z.number().nullable(),
    usage: Usage.describe("Usage of the job's own runs that have ended."),
    costUsd: z.number().nullable(),
    costEstimated: z.boolean(),
    spent: JobSpent,
    progress: JobProgress,
    checkpointPolicy: CheckpointPolicy.nullable(),
    createdAt: z.iso.datetime(),
    startedAt: z.iso.datetime().nullable(),
    endedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Job', description: 'A prompt to finish unattended. One run at a time works on it.' })
export type Job = z.infer<typeof Job>

export const JobAttempt = Attempt.extend({ runId: RunId.schema }).meta({ id: 'JobAttempt' })
export type JobAttempt = z.infer<typeof JobAttempt>

export const JobDetail = Job.extend({
  runIds: z.array(RunId.schema),
  attempts: z.array(JobAttempt),
  checkpoints: z.array(Checkpoint),
  pending: z.array(PendingQuestion),
  archived: z
    .array(
      z.object({
        sessionId: z.string().describe("The agent's own id of the session."),
        bytes: z.number().describe('The compressed size.'),
        path: z.string().describe('The folder of the copy.'),
      }),
    )
    .describe("Copies that Reprise keeps of the agent's transcripts."),
}).meta({ id: 'JobDetail' })
export type JobDetail = z.infer<typeof JobDetail>

/** The last item of the stream of a job's events. */
export const JobEnd = z
  .object({
    type: z.literal('job-end'),
    jobId: JobId.schema,
    state: JobState.describe('`completed`, `failed`, `cancelled`, or `paused`: the job needs a person.'),
    runId: RunId.schema.describe('The last run of the job.'),
    at: z.iso.datetime().nullable().describe('When the last run ended.'),
  })
  .meta({ id: 'JobEnd', description: 'The job has settled. A retry can continue it with another run.' })
export type JobEnd = z.infer<typeof JobEnd>
