/** Derives a job's state from the state of its newest run, and from nothing else. */
import type { Attention, JobState } from '../../contract/job.ts'
import type { OutcomeName } from '../../contract/outcome.ts'

export type RunStanding =
  | { at: 'queued'; waits: boolean }
  | { at: 'running' }
  | { at: 'settled'; outcome: OutcomeName }

/** Outcomes of a run after which only a person can continue the job, and what the person must do. */
const NEEDS: Partial<Record<OutcomeName, Attention>> = {
  budget: 'budget',
  'turn-limit': 'turn-limit',
  'question-timeout': 'question',
  auth: 'auth',
  'work-dir-changed': 'work-dir',
  quarantined: 'quarantine',
  outage: 'outage',
  'rate-limited': 'limit',
}

export function jobStateOf(run: RunStanding): { state: JobState; attention: Attention | null } {
  if (run.at === 'running') return { state: 'running', attention: null }
  if (run.at === 'queued') return { state: run.waits ? 'waiting' : 'queued', attention: null }
  const attention = NEEDS[run.outcome]
  if (attention) return { state: 'paused', attention }
  if (run.outcome === 'completed' || run.outcome === 'cancelled') {
    return { state: run.outcome, attention: null }
  }
  return { state: 'failed', attention: null }
}
