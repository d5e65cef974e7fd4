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

/** A refused login is tried ten times by Claude Code, which takes minutes; once or twice may be a token being renewed. */
const UNAUTHORIZED_RETRIES = 3
/** About two seconds of Claude Code's own retries. */
const FEW_RETRIES = 2

/** null: the agent may go on trying. */
export function decidePatience({ retry, triedForMs, holdMs, shortOfPatience }: Patience): StopForApi | null {
  const { apiStatus, number, delayMs = 0 } = retry
  if (apiStatus === 401) {
    return number >= UNAUTHORIZED_RETRIES
      ? { cause: 'unauthorized', message: 'the model refuses the credentials' }
      : null
  }
  const isLimit = apiStatus === 429
  if (!isLimit && apiStatus !== undefined && apiStatus < 500) return null
  const tooLong = delayMs > holdMs || triedForMs + delayMs > holdMs
  if (!tooLong && !(shortOfPatience && number >= FEW_RETRIES)) return null
  if (isLimit) {
    return { cause: 'rate-limited', message: `the agent would wait ${formatSpan(delayMs)} for the model` }
  }
  const what = apiStatus === undefined ? 'cannot be reached' : `answers with status ${apiStatus}`
  return { cause: 'outage', message: `the model ${what}; waiting for it needs no agent` }
}
