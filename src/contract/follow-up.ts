/**
 * A follow-up: a prompt that is due in a session at a later time. Agents ask for them with their own scheduling tools,
 * people through the API; Reprise keeps them all, and no agent keeps one itself.
 *
 *   planned ──→ fired       its prompt was given to the session, once. A recurring one stays planned until it expires
 *           ├──→ cancelled  by the agent, or by a person
 *           └──→ missed     it could not be given: `message` says why
 */
import { z } from 'zod'
import { CycleId, FollowUpId, RunId, SessionId, SessionRef } from './ids.ts'

export const FOLLOW_UP_STATES = ['planned', 'fired', 'missed', 'cancelled'] as const
export const FollowUpState = z.enum(FOLLOW_UP_STATES)
export type FollowUpState = z.infer<typeof FollowUpState>

const Prompt = z
  .string()
  .max(100_000)
  .refine((prompt) => prompt.trim() !== '', { error: 'expected a prompt that is not empty' })

const CronText = z.string().min(1).max(200)

export const CreateFollowUp = z
  .strictObject({
    prompt: Prompt,
    /** In whose session: of this run, or this one. */
    runId: RunId.schema.optional(),
    sessionId: SessionRef.optional(),
    /** When: at a time, after a while, or by a cron expression of five fields. */
    at: z.iso.datetime({ offset: true }).optional(),
    inMs: z
      .number()
      .int()
      .min(1000)
      .max(366 * 86_400_000)
      .optional(),
    cron: CronText.optional(),
    timeZone: z.string().max(64).optional(),
    /** With `cron`: again and again, until it is deleted or expires. */
    recurring: z.boolean().optional(),
  })
  .refine((f) => (f.runId === undefined) !== (f.sessionId === undefined), {
    error: 'expected either runId or sessionId',
  })
  .refine((f) => [f.at, f.inMs, f.cron].filter((when) => when !== undefined).length === 1, {
    error: 'expected one of at, inMs and cron',
  })
  .refine((f) => f.cron !== undefined || (f.recurring === undefined && f.timeZone === undefined), {
    error: 'recurring and timeZone have a meaning only together with cron',
  })
export type CreateFollowUp = z.infer<typeof CreateFollowUp>

export const FollowUp = z.object({
  id: FollowUpId.schema,
  state: FollowUpState,
  prompt: z.string(),
  /** What for, if the agent said. */
  reason: z.string().nullable(),
  createdBy: z.enum(['agent', 'person']),
  /** The run that asked for it, or in whose session it is due. */
  runId: RunId.schema.nullable(),
  session: SessionId.schema.nullable(),
  cycleId: CycleId.schema.nullable(),
  tier: z.number().int().nullable(),
  cron: z.string().nullable(),
  recurring: z.boolean(),
  /** Of a planned one: when it is due next. Otherwise: when it was. */
  dueAt: z.iso.datetime(),
  /** A recurring one ends then. */
  expiresAt: z.iso.datetime().nullable(),
  firedCount: z.number().int(),
  firedAt: z.iso.datetime().nullable(),
  /** The run that has its prompt: a new one, or the one that was kept waiting for it. */
  firedRunId: RunId.schema.nullable(),
  cancelledBy: z.enum(['agent', 'person']).nullable(),
  message: z.string().nullable(),
  createdAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
})
export type FollowUp = z.infer<typeof FollowUp>
