/**
 * Decides how long an agent may retry a failing request by itself. It handles a short disturbance best. For a longer
 * one Reprise stops the agent: waiting is cheaper without a process, and the obstacle becomes known to all other runs.
 */
import type { EventOf } from '../../contract/events.ts'
import { formatSpan } from '../span.ts'

export interface Patience {
  /** The agent's newest announcement of a retry. */
  retry: EventOf<'retry-wait'>
  /** How long the agent has retried without an answer in between. */
  triedForMs: number
  /** How long an agent may retry by itself. */
  holdMs: number
  /** The agent gets only a few retries: the run probes a known obstacle, or the account has never answered. */
  fewRetries: boolean
}

export interface StopForApi {
  cause: 'unauthorized' | 'rate-limited' | 'outage'
  message: string
}

/** The first refusals of a login may be due to a token that is being renewed; agents would retry for minutes. */
const UNAUTHORIZED_RETRIES = 3
/** Agents do this many retries within the first seconds. */
const FEW_RETRIES = 2

/** null: the agent may continue to retry. */
export function decidePatience({ retry, triedForMs, holdMs, fewRetries }: Patience): StopForApi | null {
  const { why, apiStatus, number, delayMs = 0 } = retry
  if (why === 'auth') {
    return number >= UNAUTHORIZED_RETRIES
      ? { cause: 'unauthorized', message: 'the model refuses the credentials' }
      : null
  }
  if (why === undefined) return null
  const tooLong = delayMs > holdMs || triedForMs + delayMs > holdMs
  if (!tooLong && !(fewRetries && number >= FEW_RETRIES)) return null
  if (why === 'rate-limited') {
    return { cause: 'rate-limited', message: `the agent would wait ${formatSpan(delayMs)} for the model` }
  }
  const what = apiStatus === undefined ? 'cannot be reached' : `answers with status ${apiStatus}`
  return { cause: 'outage', message: `the model ${what}; the agent was stopped while Reprise waits` }
}
