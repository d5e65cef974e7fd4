/** Decides whether the state of a job is worth a notification. */
import type { JobState } from '../../contract/job.ts'
import { JobNotice, type NotifyEvent } from '../../contract/notification.ts'
import { pickFields } from './message.ts'
import type { Notice } from './plan.ts'

/** A cancelled job causes no notification: the person who cancelled it knows. */
const EVENTS: Partial<Record<JobState, NotifyEvent>> = {
  completed: 'done',
  failed: 'failed',
  paused: 'attention',
}

/** null: no notification. A run settles once, so its id distinguishes the notices of a job. */
export function noticeOfJob(job: JobNotice): Notice | null {
  const event = EVENTS[job.state]
  if (!event) return null
  const subject = { kind: 'job', id: job.id } as const
  return { event, subject, occurrence: job.runId, payload: describeJobNotice(job) }
}

/** Copies only the fields of the notice, and cuts long texts. */
export function describeJobNotice(job: JobNotice): JobNotice {
  return pickFields(JobNotice.shape, job, { prompt: 500, message: 2000, resultText: 4000 })
}
