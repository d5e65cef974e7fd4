/** The body of a notification: sent to a webhook by POST, or to a command on its stdin. */
import { z } from 'zod'
import { Cycle } from './cycle.ts'
import { EscalationReason, Signal } from './escalation.ts'
import { NotificationId, RunId } from './ids.ts'
import { Job } from './job.ts'

export const NOTIFY_EVENTS = ['done', 'failed', 'attention'] as const
/** `attention`: it needs a person to continue. */
export const NotifyEvent = z.enum(NOTIFY_EVENTS)
export type NotifyEvent = z.infer<typeof NotifyEvent>

/** A job as it was when the event happened; long texts are cut. The job itself has all of them. */
export const JobNotice = Job.pick({
  id: true,
  state: true,
  attention: true,
  message: true,
  outcome: true,
  resultText: true,
  prompt: true,
  agent: true,
  model: true,
  workDir: true,
  runId: true,
  sessionId: true,
  attemptCount: true,
  costUsd: true,
  createdAt: true,
  startedAt: true,
  endedAt: true,
})
export type JobNotice = z.infer<typeof JobNotice>

/** A chain of tiers at the moment when it ended or needs a person. `state` is the reason. */
export const ChainNotice = z.object({
  /** The id of the first run. */
  id: RunId.schema,
  /** The run after which the decision was made. */
  runId: RunId.schema,
  /** `paused`: the run has waited too long for a limit or an outage to end; a person must continue it. */
  state: z.union([EscalationReason, z.literal('paused')]),
  message: z.string(),
  tier: z.number().int(),
  /** The tier that waits for approval, until `expiresAt`. */
  toTier: z.number().int().nullable(),
  expiresAt: z.iso.datetime().nullable(),
  status: Signal.shape.status.nullable(),
  summary: z.string(),
  services: z.array(z.string()),
  prompt: z.string(),
  workDir: z.string(),
})
export type ChainNotice = z.infer<typeof ChainNotice>

/** A cycle of a watch at the moment when it ended or needs a person; long texts are cut. */
export const CycleNotice = Cycle.pick({
  id: true,
  watchId: true,
  watch: true,
  number: true,
  state: true,
  outcome: true,
  status: true,
  summary: true,
  message: true,
  trigger: true,
  tier: true,
  costUsd: true,
  rootRunId: true,
  pendingFollowUps: true,
  startedAt: true,
  endedAt: true,
}).extend({
  /** The last decision about its chain: why no further tier starts, or that an approval is needed. */
  reason: EscalationReason.nullable(),
  /** The run that asks for the next tier, and until when that may be approved. */
  approval: z
    .object({ runId: RunId.schema, toTier: z.number().int(), expiresAt: z.iso.datetime().nullable() })
    .nullable(),
})
export type CycleNotice = z.infer<typeof CycleNotice>

/** A notification that a person sends to see whether it arrives. */
export const TestNotice = z.object({ state: z.literal('test'), message: z.string() })

/** About a job, a chain or a cycle. A chain that belongs to a cycle is reported as the cycle. */
export const NotificationBody = z.object({
  /** The same for every delivery attempt, so that a receiver can recognize a repeated one. */
  id: NotificationId.schema,
  event: NotifyEvent,
  at: z.iso.datetime(),
  job: JobNotice.optional(),
  chain: ChainNotice.optional(),
  cycle: CycleNotice.optional(),
  test: TestNotice.optional(),
})
export type NotificationBody = z.infer<typeof NotificationBody>

export const TestNotifications = z.strictObject({
  /** The names of the targets; without it: all. */
  targets: z.array(z.string().max(200)).max(100).optional(),
})
export type TestNotifications = z.infer<typeof TestNotifications>

/** The result of a test notification to one target. */
export const NotificationTest = z.object({
  target: z.string(),
  kind: z.enum(['webhook', 'command']),
  /** The events that this target is notified about. */
  on: z.array(NotifyEvent),
  delivered: z.boolean(),
  /** The cause, if it was not delivered. */
  reason: z.string().nullable(),
})
export type NotificationTest = z.infer<typeof NotificationTest>
