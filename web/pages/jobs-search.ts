/** The filters of the list of jobs, as they are in its address. */
import type { JobState } from '../../src/contract/job.ts'

export interface JobsSearch {
  state?: JobState
  q?: string
  sort?: string
}

export const JOB_FILTERS: readonly { state?: JobState; word: string }[] = [
  { word: 'All' },
  { state: 'running', word: 'At work' },
  { state: 'paused', word: 'Needs you' },
  { state: 'waiting', word: 'Waiting' },
  { state: 'queued', word: 'Queued' },
  { state: 'failed', word: 'Failed' },
  { state: 'completed', word: 'Completed' },
  { state: 'cancelled', word: 'Cancelled' },
]
