/** Messages about obstacles, for waiting runs and for the status. */
import type { Outcome } from '../../contract/outcome.ts'
import type { Obstacle, ObstacleWithProbe } from './obstacle.ts'

const KINDS = { limit: 'rate limit', outage: 'outage' } as const

export function sayObstacle(
  { kind, model, message, nextTryAt, resetsAt, since, probe }: ObstacleWithProbe,
  now: Date,
): string {
  const what = `${KINDS[kind]}${model === null ? '' : ` (${model})`} since ${since.toISOString()}: ${message}`
  const resets = resetsAt && resetsAt > now ? `; resets at ${resetsAt.toISOString()}` : ''
  const next =
    nextTryAt > now
      ? `; next try at ${nextTryAt.toISOString()}`
      : probe === null
        ? '; next try now'
        : `; run ${probe} is testing whether it is over`
  return `${what}${resets}${next}; continues automatically unless it is cancelled`
}

/** The hint for an address that has never answered. */
export const saySetUp = (baseUrl: string, baseUrlSetting: string) =>
  `${baseUrl} has never answered, so the configuration is probably wrong: ` +
  `check the address (${baseUrlSetting}), the proxy and the login (\`reprise doctor\`)`

/** The outcome that pauses a job that has waited too long. Its session is kept: a retry continues in it. */
export function outcomeAfterGivingUp({ kind, message }: Obstacle, why: string): Outcome {
  return { name: kind === 'outage' ? 'outage' : 'rate-limited', message: `${message}; ${why}` }
}

/** Why a run without a job is paused, and how to continue it. `shared`: other runs wait for the same obstacle. */
export const sayPaused = ({ message }: Obstacle, why: string, runId: string, shared: boolean) =>
  `paused: ${message}; ${why}. ${shared ? 'It continues when another run reaches the model, and retries about once an hour; ' : 'It retries about once an hour; '}` +
  `\`reprise runs continue ${runId}\` retries now, \`reprise runs cancel ${runId}\` cancels it`

/** A run that another one waits for. */
interface Ahead {
  shares: 'lane' | 'place'
  id: string
  jobId: string | null
  state: 'queued' | 'running'
  why: string | null
  asks: boolean
}

/** Why a run waits behind another one, and what would end the wait. */
export function sayBehind({ shares, id, jobId, state, why, asks }: Ahead): string {
  const [what, name] = jobId === null ? ['run', id] : ['job', jobId]
  const where =
    shares === 'lane'
      ? 'which comes first in the same conversation or session'
      : 'which works in the same directory (jobs.perWorkDir)'
  const then = asks
    ? `; its agent waits for your answer: \`reprise attach ${name}\``
    : state === 'queued' && why !== null
      ? `: ${why}`
      : `; \`reprise attach ${name}\` shows it`
  return `waits for ${what} ${name}, ${where}${then}`
}

export const sayNoFreeSlot = (running: number, concurrency: number) =>
  `waits for a free slot: ${atWork(running)} (run.concurrency: ${concurrency}); \`reprise runs\` lists them`

/** Why a run waits whose agent has a limit of its own. */
export const sayAgentBusy = (agent: string, running: number, concurrency: number) =>
  `waits for a free slot: ${atWork(running)} with ${agent} (agents.${agent}.concurrency: ${concurrency}); \`reprise runs\` lists them`

const atWork = (running: number) => (running === 1 ? '1 run is at work' : `${running} runs are at work`)
