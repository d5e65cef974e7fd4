/** What there is to tell of a job, from the state it has come to. */
import type { JobState } from '../../contract/job.ts'
import { JobNotice, type NotifyEvent } from '../../contract/notification.ts'
import { pickFields } from './message.ts'
import type { Notice } from './plan.ts'

/** That it was cancelled is known to whoever did so. */
const EVENTS: Partial<Record<JobState, NotifyEvent>> = {
  completed: 'done',
  failed: 'failed',
  paused: 'attention',
}

/** null: nothing that people want to be told of. One run ends a job's work once, so it tells happenings apart. */
export function noticeOfJob(job: JobNotice): Notice | null {
  const event = EVENTS[job.state]
  if (!event) return null
  const subject = { kind: 'job', id: job.id } as const
  return { event, subject, occurrence: job.runId, payload: describeJobNotice(job) }
}

/** From anything that has these fields: these, and no others. */
export function describeJobNotice(job: JobNotice): JobNotice {
  return pickFields(JobNotice.shape, job, { prompt: 500, message: 2000, resultText: 4000 })
}
