/** Obstacles in words, for the message of a run that waits and for everyone who looks at the status. */
import type { Outcome } from '../../contract/outcome.ts'
import type { InTheWay, Obstacle } from './obstacle.ts'

const KINDS = { limit: 'rate limit', outage: 'outage' } as const

export function sayObstacle(
  { kind, model, message, nextTryAt, resetsAt, since, probe }: InTheWay,
  now: Date,
): string {
  const what = `${KINDS[kind]}${model === null ? '' : ` (${model})`} since ${since.toISOString()}: ${message}`
  const resets = resetsAt && resetsAt > now ? `; resets at ${resetsAt.toISOString()}` : ''
  const next =
    nextTryAt > now
      ? `; next try at ${nextTryAt.toISOString()}`
      : probe === null
        ? '; next try now'
        : `; run ${probe} is trying whether it is over`
  return `${what}${resets}${next}; goes on by itself unless it is cancelled`
}

/** Added to what is said of an address that has never answered. */
export const saySetUp = (baseUrl: string, baseUrlSetting: string) =>
  `${baseUrl} has never answered, so this is probably a mistake of set-up: ` +
  `check the address (${baseUrlSetting}), the proxy and the login (\`reprise doctor\`)`

/** What a job that is not to wait any longer is paused with. Its session stays as it is: a retry goes on in it. */
export function outcomeInVain({ kind, message }: Obstacle, why: string): Outcome {
  return { name: kind === 'outage' ? 'outage' : 'rate-limited', message: `${message}; ${why}` }
}

/** Why a run that belongs to no job is paused, and what makes it go on. `shared`: other runs wait for the same thing. */
export const sayPaused = ({ message }: Obstacle, why: string, runId: string, shared: boolean) =>
  `paused: ${message}; ${why}. ${shared ? 'It does not try again by itself, but goes on once another run finds the model back; ' : 'It does not try again by itself; '}` +
  `\`reprise runs continue ${runId}\` makes it try now, \`reprise runs cancel ${runId}\` gives it up`

/** Why a run waits that is queued behind another one in the same conversation or session. */
export const sayBehind = (ahead: { id: string; why: string }) =>
  `waits for run ${ahead.id}, which comes first in the same conversation or session: ${ahead.why}`
