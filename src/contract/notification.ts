/** What is told to those who are not watching: by a webhook as the body of a POST, to a command on its stdin. */
import { z } from 'zod'
import { NotificationId } from './ids.ts'
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

export const NotificationBody = z.object({
  /** The same for every try: whoever got it before can tell. */
  id: NotificationId.schema,
  event: NotifyEvent,
  at: z.iso.datetime(),
  job: JobNotice,
})
export type NotificationBody = z.infer<typeof NotificationBody>
