/** Says why a followed run does not work at the moment: behind which run or job, or until when. Each reason is said once. */
import type { Client } from '../../client/client.ts'
import type { RunEvent } from '../../contract/events.ts'
import type { OutcomeName } from '../../contract/outcome.ts'
import type { Run } from '../../contract/run.ts'
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

export function createWaitNotice(
  client: Pick<Client, 'getRun'>,
  runId: string,
  note: (line: string) => void,
) {
  let pending: NodeJS.Timeout | undefined
  let said = ''
  const look = async (outcome: OutcomeName | null) => {
    const run = await client.getRun(runId).catch(() => null)
    if (pending === undefined) return
    const line = run === null ? '' : textOf(run, outcome, new Date())
    if (line !== '' && line !== said) note(line)
    if (line !== '') said = line
    // The reason for a wait in the queue changes.
    if (run === null || run.state === 'queued') lookIn(LOOK_AGAIN_MS, outcome)
  }
  const lookIn = (ms: number, outcome: OutcomeName | null) => {
    pending = setTimeout(() => void look(outcome), ms)
  }
  const close = () => {
    clearTimeout(pending)
    pending = undefined
  }
  // The first look is for a run that waits before its first event.
  lookIn(LOOK_AFTER_MS, null)
  return {
    see: (event: RunEvent) => {
      if (event.type === 'attempt-start' || event.type === 'run-end') close()
      if (event.type !== 'attempt-end') return
      close()
      lookIn(LOOK_AFTER_MS, event.outcome.name)
    },
    close,
  }
}

type Queued = Pick<Run, 'state' | 'notBefore' | 'paused' | 'message'>

function textOf(
  { state, notBefore, paused, message }: Queued,
  outcome: OutcomeName | null,
  now: Date,
): string {
  // Why a run is paused is an event of it.
  if (state !== 'queued' || paused) return ''
  if (notBefore !== null && Date.parse(notBefore) > now.getTime()) {
    const why = outcome === null ? (message ?? 'interrupted') : (WAITS_FOR[outcome] ?? outcome)
    return `waiting until ${formatTime(notBefore)} (${withLocalTimes(why)}), then continues automatically`
  }
  return message === null ? '' : withLocalTimes(message)
}
