/** Checkpoints: the states of a job's work tree that are saved as git commits. */
import { z } from 'zod'
import { AttemptId, JobId, SessionId } from './ids.ts'

export const CHANGE_POLICIES = ['continue', 'restore', 'stop'] as const
export const ChangePolicy = z
  .enum(CHANGE_POLICIES)
  .describe(
    'What to do when a job continues and its work tree is not as its agent left it. `continue`: tell the agent what changed. `restore`: restore the checkpoint, after saving the present state. `stop`: pause the job.',
  )
export type ChangePolicy = z.infer<typeof ChangePolicy>

export const CheckpointPolicy = z.strictObject({
  everyMs: z
    .number()
    .int()
    .min(1000)
    .max(86_400_000)
    .describe('How often a checkpoint is made while an attempt runs.'),
  onChange: ChangePolicy,
})
export type CheckpointPolicy = z.infer<typeof CheckpointPolicy>

export const CheckpointKind = z
  .enum(['start', 'agent', 'found', 'saved'])
  .describe(
    '`start`: before the agent started. `agent`: what an attempt left, or had made so far. `found`: what was there after a time in which others may have changed it. `saved`: what a restore was about to overwrite.',
  )
export type CheckpointKind = z.infer<typeof CheckpointKind>

export const Checkpoint = z
  .object({
    number: z.number().int(),
    kind: CheckpointKind,
    ref: z.string(),
    commit: z.string(),
    head: z.string().nullable().describe('The commit that was checked out.'),
    attemptId: AttemptId.schema.nullable(),
    session: SessionId.schema
      .nullable()
      .describe('The session whose position is known for this state, so that a rewind can fork it there.'),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'Checkpoint', description: "A saved state of a job's work tree, as a git commit." })
export type Checkpoint = z.infer<typeof Checkpoint>

export const CheckpointDiff = z
  .object({
    from: z.number().int(),
    to: z.number().int().nullable().describe('null: the work tree as it is now.'),
    files: z.array(z.object({ status: z.string(), path: z.string() })),
    patch: z.string(),
    truncated: z.boolean().describe('The patch was too long and is cut off.'),
  })
  .meta({ id: 'CheckpointDiff' })
export type CheckpointDiff = z.infer<typeof CheckpointDiff>

export const RewoundJob = z
  .object({
    jobId: JobId.schema,
    restored: z.number().int(),
    saved: z.number().int().nullable().describe('The checkpoint that holds what was there before.'),
    session: SessionId.schema
      .nullable()
      .describe(
        'The fork of the session in which the job continues; null: a new session, because the agent had not begun at that point.',
      ),
  })
  .meta({ id: 'RewoundJob' })
export type RewoundJob = z.infer<typeof RewoundJob>
