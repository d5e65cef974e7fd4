/** States and outcomes in words. */
import type { Attention, JobState } from '../../src/contract/job.ts'
import type { OutcomeName } from '../../src/contract/outcome.ts'
import type { Run } from '../../src/contract/run.ts'
import type { SessionState } from '../../src/contract/session.ts'

/** How a thing stands, as far as a person cares. */
export type Standing = 'work' | 'wait' | 'ask' | 'fail' | 'done' | 'off'

export const OUTCOME_WORDS: Readonly<Record<OutcomeName, string>> = {
  completed: 'completed',
  'turn-limit': 'turn limit',
  budget: 'budget used up',
  'context-overflow': 'context overflow',
  'rate-limited': 'rate limit',
  outage: 'outage',
  'api-error': 'API error',
  auth: 'not logged in',
  'session-missing': 'session missing',
  'session-busy': 'session busy',
  crashed: 'crashed',
  'timed-out': 'timed out',
  'output-limit': 'too much output',
  'question-timeout': 'nobody answered',
  'work-dir-changed': 'directory changed',
  quarantined: 'quarantined',
  cancelled: 'cancelled',
}

export const standingOfOutcome = (outcome: OutcomeName | null): Standing =>
  outcome === null ? 'work' : outcome === 'completed' ? 'done' : outcome === 'cancelled' ? 'off' : 'fail'

export function standingOfRun(run: Pick<Run, 'state' | 'outcome' | 'pending' | 'paused'>): Standing {
  if (run.pending.length > 0 || run.paused) return 'ask'
  if (run.state === 'queued') return 'wait'
  if (run.state === 'running') return 'work'
  return standingOfOutcome(run.outcome)
}

export function wordOfRun(run: Pick<Run, 'state' | 'outcome' | 'pending' | 'paused' | 'notBefore'>): string {
  if (run.pending.length > 0) return 'asks you'
  if (run.paused) return 'paused'
  if (run.state === 'queued') return run.notBefore === null ? 'queued' : 'waiting'
  if (run.state === 'running') return 'at work'
  return run.outcome === null ? 'ended' : OUTCOME_WORDS[run.outcome]
}

export function standingOfJob(job: { state: JobState; attention: Attention | null }): Standing {
  if (job.state === 'paused' || job.attention === 'question') return 'ask'
  if (job.state === 'running') return 'work'
  if (job.state === 'queued' || job.state === 'waiting') return 'wait'
  return job.state === 'completed' ? 'done' : job.state === 'failed' ? 'fail' : 'off'
}

/** In a word; what is paused says why, and what asks says so, also while it runs. */
export const wordOfJob = (job: { state: JobState; attention: Attention | null }): string =>
  job.attention === 'question'
    ? 'asks you'
    : job.attention && job.state === 'paused'
      ? job.attention
      : job.state === 'running'
        ? 'at work'
        : job.state

export const ATTENTION_WORDS: Readonly<Record<Attention, string>> = {
  budget: 'its budget is used up',
  'turn-limit': 'it reached its turn limit',
  question: 'it asks something',
  auth: 'the agent must log in',
  'work-dir': 'its directory was changed',
  quarantine: 'the daemon died while handling it',
  outage: 'the model has not responded for long',
  limit: 'the account has been limited for long',
}

export const SESSION_STANDING: Readonly<Record<SessionState, Standing>> = {
  created: 'wait',
  active: 'work',
  paused: 'wait',
  completed: 'done',
  expired: 'off',
  poisoned: 'fail',
}

const TIER_NAMES = ['', 'observe', 'safe', 'full']
export const tierName = (tier: number) => `tier ${tier}${TIER_NAMES[tier] ? ` ${TIER_NAMES[tier]}` : ''}`

export const modelName = (model: string | null) => model ?? 'default model'
