/** Mirrors the session of an attempt from time to time while the agent works. */
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { Mirror } from './mirror.ts'

const EVERY_MS = 10_000

/** Returns a function that stops it. A copy that is under way is finished. */
export function mirrorDuring(
  mirrors: Pick<Mirror, 'catchUp'>,
  { sessionId, agentSessionId }: Pick<AttemptRecord, 'sessionId' | 'agentSessionId'>,
  everyMs = EVERY_MS,
): () => void {
  let timer: NodeJS.Timeout | null = null
  let stopped = false
  const wait = () => {
    if (!stopped) timer = setTimeout(look, everyMs).unref()
  }
  const look = () => void mirrors.catchUp(sessionId, [agentSessionId]).then(wait)
  wait()
  return () => {
    stopped = true
    if (timer) clearTimeout(timer)
  }
}
