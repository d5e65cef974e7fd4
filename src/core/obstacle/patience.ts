/**
 * How long an agent may try a failing request again by itself. A short disturbance is best left to it; to wait for longer
 * is cheaper without a process, and only what has ended can be told and waited for by everybody.
 */
import type { EventOf } from '../../contract/events.ts'
import { formatSpan } from '../span.ts'

export interface Patience {
  /** The newest of the agent's announcements that it tries again. */
  retry: EventOf<'retry-wait'>
  /** Since when it has tried without an answer between. */
  triedForMs: number
  /** How long an agent may wait by itself. */
  holdMs: number
  /** An obstacle is known, so this is a try whether it is over, or the account has never answered. */
  shortOfPatience: boolean
}

export interface StopForApi {
  cause: 'unauthorized' | 'rate-limited' | 'outage'
  message: string
}

/** An agent may try a refused login for minutes; once or twice, its token may just be being renewed. */
const UNAUTHORIZED_RETRIES = 3
/** What an agent does within the first seconds. */
const FEW_RETRIES = 2

/** null: the agent may go on trying. */
export function decidePatience({ retry, triedForMs, holdMs, shortOfPatience }: Patience): StopForApi | null {
  const { why, apiStatus, number, delayMs = 0 } = retry
  if (why === 'auth') {
    return number >= UNAUTHORIZED_RETRIES
      ? { cause: 'unauthorized', message: 'the model refuses the credentials' }
      : null
  }
  if (why === undefined) return null
  const tooLong = delayMs > holdMs || triedForMs + delayMs > holdMs
  if (!tooLong && !(shortOfPatience && number >= FEW_RETRIES)) return null
  if (why === 'rate-limited') {
    return { cause: 'rate-limited', message: `the agent would wait ${formatSpan(delayMs)} for the model` }
  }
  const what = apiStatus === undefined ? 'cannot be reached' : `answers with status ${apiStatus}`
  return { cause: 'outage', message: `the model ${what}; waiting for it needs no agent` }
}
