/** The requests that create and change a job. */
import { z } from 'zod'
import { CheckpointPolicy } from './checkpoint.ts'
import { CreateRun, MaxDurationMs, ModelName, PermissionMode, WorkDir } from './create-run.ts'
import { SessionRef } from './ids.ts'

const MaxBudgetUsd = z.number().positive().max(1_000_000)
const MaxBudgetTokens = z.number().int().positive().max(1_000_000_000_000)
const Priority = z.number().int().min(-100).max(100)
const WebhookUrl = z.url({ protocol: /^https?$/, error: 'expected an http or https address' }).max(2048)

export const CreateJob = z
  .strictObject({
    prompt: CreateRun.shape.prompt,
    agent: z.string().max(64).optional(),
    model: ModelName.optional(),
    workDir: WorkDir,
    sessionId: SessionRef.optional().describe(
      "Continue this session if that is safe: Reprise's id (`ses_…`) or the agent's own id.",
    ),
    forceFreshSession: z.boolean().optional(),
    permissions: PermissionMode.optional(),
    sandbox: CreateRun.shape.sandbox,
    timeoutMs: MaxDurationMs.optional().describe('Limit for one attempt.'),
    maxResumes: CreateRun.shape.maxResumes,
    maxTurns: CreateRun.shape.maxTurns,
    continue: CreateRun.shape.continue,
    maxTurnsTotal: CreateRun.shape.maxTurnsTotal,
    maxBudgetUsd: MaxBudgetUsd.optional().describe('Limit over all attempts and retries together.'),
    maxBudgetTokens: MaxBudgetTokens.optional(),
    priority: Priority.optional().describe('Jobs with a higher priority start first.'),
    checkpoints: z.union([z.boolean(), CheckpointPolicy.partial()]).optional(),
    webhook: WebhookUrl.optional().describe(
      'Notified when the job is completed, has failed or needs a person, in addition to the configured targets.',
    ),
  })
  .meta({ id: 'CreateJob' })
export type CreateJob = z.infer<typeof CreateJob>

export const UpdateJob = z
  .strictObject({
    maxBudgetUsd: MaxBudgetUsd.nullable().optional().describe('null removes the limit.'),
    maxBudgetTokens: MaxBudgetTokens.nullable().optional(),
    priority: Priority.optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: 'expected at least one of maxBudgetUsd, maxBudgetTokens, priority',
  })
  .meta({ id: 'UpdateJob' })
export type UpdateJob = z.infer<typeof UpdateJob>
