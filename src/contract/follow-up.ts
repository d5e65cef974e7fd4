/**
 * A follow-up: a prompt that a session is given at a later time. Agents plan them with their own scheduling tools,
 * people through the API. Reprise stores all of them; no agent stores one itself.
 *
 *   planned ──→ fired       its prompt was given to the session, once. A recurring one stays planned until it expires
 *           ├──→ cancelled  by the agent, or by a person
 *           └──→ missed     it could not be given: `message` says why
 */
import { z } from 'zod'
import { CycleId, FollowUpId, RunId, SessionId, SessionRef } from './ids.ts'

export const FOLLOW_UP_STATES = ['planned', 'fired', 'missed', 'cancelled'] as const
export const FollowUpState = z
  .enum(FOLLOW_UP_STATES)
  .describe('`fired`: the session was given the prompt. `missed`: it could not be given; `message` says why.')
export type FollowUpState = z.infer<typeof FollowUpState>

const Prompt = z
  .string()
  .max(100_000)
  .refine((prompt) => prompt.trim() !== '', { error: 'expected a prompt that is not empty' })

const CronText = z.string().min(1).max(200)

export const CreateFollowUp = z
  .strictObject({
    prompt: Prompt,
    runId: RunId.schema.optional().describe('Use the session of this run. Either this or `sessionId`.'),
    sessionId: SessionRef.optional().describe(
      "Use this session: Reprise's id (`ses_…`) or the agent's own id.",
    ),
    at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('When it is due: one of `at`, `inMs` and `cron` (five fields).'),
    inMs: z
      .number()
      .int()
      .min(1000)
      .max(366 * 86_400_000)
      .optional(),
    cron: CronText.optional(),
    timeZone: z.string().max(64).optional(),
    recurring: z
      .boolean()
      .optional()
      .describe('With `cron`: fires repeatedly until it is cancelled or expires.'),
  })
  .refine((f) => (f.runId === undefined) !== (f.sessionId === undefined), {
    error: 'expected either runId or sessionId',
  })
  .refine((f) => [f.at, f.inMs, f.cron].filter((when) => when !== undefined).length === 1, {
    error: 'expected one of at, inMs and cron',
  })
  .refine((f) => f.cron !== undefined || (f.recurring === undefined && f.timeZone === undefined), {
    error: 'recurring and timeZone require cron',
  })
  .meta({ id: 'CreateFollowUp' })
export type CreateFollowUp = z.infer<typeof CreateFollowUp>

export const FollowUp = z
  .object({
    id: FollowUpId.schema,
    state: FollowUpState,
    prompt: z.string(),
    reason: z.string().nullable().describe('The purpose, if the agent named one.'),
    createdBy: z.enum(['agent', 'person']),
    runId: RunId.schema.nullable().describe('The run that asked for it, or in whose session it is due.'),
    session: SessionId.schema.nullable().describe("Reprise's id of the session (`ses_…`)."),
    cycleId: CycleId.schema.nullable(),
    tier: z.number().int().nullable(),
    cron: z.string().nullable(),
    recurring: z.boolean(),
    dueAt: z.iso
      .datetime()
      .describe('For a planned follow-up: when it is due next. Otherwise: when it was due.'),
    expiresAt: z.iso.datetime().nullable().describe('When a recurring follow-up ends.'),
    firedCount: z.number().int(),
    firedAt: z.iso.datetime().nullable(),
    firedRunId: RunId.schema
      .nullable()
      .describe('The run that got the prompt: a new one, or the one that was kept waiting for it.'),
    cancelledBy: z.enum(['agent', 'person']).nullable(),
    message: z.string().nullable(),
    createdAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'FollowUp', description: 'A prompt that a session is given at a later time.' })
export type FollowUp = z.infer<typeof FollowUp>
