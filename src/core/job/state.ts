/** A job's state follows from the run that works on it, and from nothing else. */
import type { Attention, JobState } from '../../contract/job.ts'
import type { OutcomeName } from '../../contract/outcome.ts'

export type RunStanding =
  | { at: 'queued'; waits: boolean }
  | { at: 'running' }
  | { at: 'settled'; outcome: OutcomeName }

/** Ends of a run after which a person, and nobody else, can make it go on. */
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
