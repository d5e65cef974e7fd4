/** Reads from an attempt's events which limit or outage it met. */
import type { Exit, StopCause } from '../../agents/adapter.ts'
import type { StoredEvent } from '../../store/runs/records.ts'

/**
 * When the limit resets: the time that the agent reported, or the time until which it wanted to wait when it was
 * stopped for that. Only rejected requests count, because agents also report the reset times of limits that are not
 * reached.
 */
export function readLimit(
  events: readonly StoredEvent[],
  stopCause: StopCause | null,
): Pick<Exit, 'resetsAt' | 'limitScope'> {
  const told = events.flatMap(({ body }) =>
    body.type === 'rate-limit' && body.status === 'rejected' ? [body] : [],
  )
  const resets = told.flatMap(({ resetsAt }) => resetsAt ?? [])
  // Waits before the last answer of the model belong to an earlier disturbance.
  const answered = events.findLastIndex(({ body }) => body.type === 'model-call')
  const waits = events
    .slice(answered + 1)
    .flatMap(({ at, body }) => (body.type === 'retry-wait' ? [{ at, ...body }] : []))
  // A server that answers with an error is reachable, so the outage may concern this model only.
  if (stopCause === 'outage') {
    return { resetsAt: null, limitScope: waits.at(-1)?.apiStatus === undefined ? 'account' : 'model' }
  }
  const limitScope = told.at(-1)?.scope
  if (stopCause !== 'rate-limited') return { resetsAt: resets.at(-1) ?? null, limitScope }
  const until = waits.flatMap(({ at, delayMs }) =>
    delayMs ? [new Date(at.getTime() + delayMs).toISOString()] : [],
  )
  return { resetsAt: until.at(-1) ?? resets.at(-1) ?? null, limitScope }
}
