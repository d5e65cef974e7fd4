/** Says why a followed job does not work at the moment: behind which job, or until when. Each reason is said once. */
import type { Client } from '../../client/client.ts'
import type { RunEvent } from '../../contract/events.ts'
import type { OutcomeName } from '../../contract/outcome.ts'
import { formatTime, withLocalTimes } from '../terminal/time.ts'

/** Long enough for an attempt to start if there is nothing to wait for. */
const LOOK_AFTER_MS = 250
const LOOK_AGAIN_MS = 2000

const WAITS_FOR: Partial<Record<OutcomeName, string>> = {
  'rate-limited': 'rate limit',
  outage: 'outage of the model',
  'api-error': 'error of the model API',
  'timed-out': 'timeout',
  crashed: 'crash',
}

export function createWaitNotice(client: Client, jobId: string) {
  let pending: NodeJS.Timeout | undefined
  let said = ''
  const look = async (outcome: OutcomeName | null, note: (line: string) => void) => {
    const job = await client.getJob(jobId).catch(() => null)
    if (pending === undefined) return
    const line = job === null ? '' : textOf(job, outcome)
    if (line !== '' && line !== said) note(line)
    if (line !== '') said = line
    // The reason for a wait in the queue changes.
    if (job === null || job.state === 'queued') lookIn(LOOK_AGAIN_MS, outcome, note)
  }
  const lookIn = (ms: number, outcome: OutcomeName | null, note: (line: string) => void) => {
    pending = setTimeout(() => void look(outcome, note), ms)
  }
  const close = () => {
    clearTimeout(pending)
    pending = undefined
  }
  return {
    /** Called before the first event. */
    begin: (note: (line: string) => void) => lookIn(LOOK_AFTER_MS, null, note),
    see: (event: RunEvent, note: (line: string) => void) => {
      if (event.type === 'attempt-start' || event.type === 'run-end') close()
      if (event.type !== 'attempt-end') return
      close()
      lookIn(LOOK_AFTER_MS, event.outcome.name, note)
    },
    close,
  }
}

function textOf(
  { state, waitingUntil, message }: { state: string; waitingUntil: string | null; message: string | null },
  outcome: OutcomeName | null,
): string {
  if (waitingUntil !== null) {
    const why = outcome === null ? (message ?? 'interrupted') : (WAITS_FOR[outcome] ?? outcome)
    return `waiting until ${formatTime(waitingUntil)} (${withLocalTimes(why)}), then continues automatically`
  }
  return state === 'queued' && message !== null ? withLocalTimes(message) : ''
}
