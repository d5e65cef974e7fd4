/** What is told to those who are not watching: by a webhook as the body of a POST, to a command on its stdin. */
import { z } from 'zod'
import { EscalationReason, Signal } from './escalation.ts'
import { NotificationId, RunId } from './ids.ts'
import { Job } from './job.ts'

export const NOTIFY_EVENTS = ['done', 'failed', 'attention'] as const
/** It is done, it has failed, or it needs a person to go on. */
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

/** An investigation through tiers, at the moment at which it ended or needs a person. `state` is why. */
export const ChainNotice = z.object({
  /** Of the first run. */
  id: RunId.schema,
  /** The run that was decided about. */
  runId: RunId.schema,
  state: EscalationReason,
  message: z.string(),
  tier: z.number().int(),
  /** The tier that waits for approval, until then. */
  toTier: z.number().int().nullable(),
  expiresAt: z.iso.datetime().nullable(),
  status: Signal.shape.status.nullable(),
  summary: z.string(),
  services: z.array(z.string()),
  prompt: z.string(),
  workDir: z.string(),
})
export type ChainNotice = z.infer<typeof ChainNotice>

/** About a job, or about a chain. */
export const NotificationBody = z.object({
  /** The same for every try: whoever got it before can tell. */
  id: NotificationId.schema,
  event: NotifyEvent,
  at: z.iso.datetime(),
  job: JobNotice.optional(),
  chain: ChainNotice.optional(),
})
export type NotificationBody = z.infer<typeof NotificationBody>
