/**
 * Decides whether a run that is due may start, given the open obstacles: it starts alone as a probe, or it waits. The
 * probe that finds an obstacle gone releases the other runs at once; that waiting runs check again when the next try
 * is due is only a safety net.
 */
import { type ObstacleWithProbe, reasonToGiveUp } from './obstacle.ts'
import { sayObstacle } from './words.ts'

export interface Passing {
  runId: string
  /** The start of the time that counts as waiting. */
  waitingSince: Date
  /** A person continued the run: it may wait for one more try of its own, whatever it has waited before. */
  continued: boolean
  limitMs: number
  now: Date
}

export type Passage =
  /** `tries`: the obstacles that this run probes; other runs wait for its result. */
  | { kind: 'go'; tries: readonly ObstacleWithProbe[] }
  | { kind: 'wait'; behind: ObstacleWithProbe; until: Date; why: string }
  | { kind: 'give-up'; behind: ObstacleWithProbe; why: string }

/** How often a run that waits for another run's probe checks again. */
const LOOK_AGAIN_MS = 15_000
export const lookAgainAt = (now: Date) => new Date(now.getTime() + LOOK_AGAIN_MS)

export function decidePassage(obstacles: readonly ObstacleWithProbe[], passing: Passing): Passage {
  const { runId, now } = passing
  const latest = obstacles.reduce<ObstacleWithProbe | null>(
    (last, one) => (last && last.nextTryAt >= one.nextTryAt ? last : one),
    null,
  )
  if (latest === null) return { kind: 'go', tries: [] }
  const tried = obstacles.find(({ probe }) => probe !== null && probe !== runId)
  const behind = latest.nextTryAt > now ? latest : (tried ?? null)
  if (behind === null) return { kind: 'go', tries: obstacles }
  const tooLong = passing.continued
    ? null
    : reasonToGiveUp(behind, passing.waitingSince, passing.limitMs, now)
  if (tooLong !== null) return { kind: 'give-up', behind, why: tooLong }
  if (behind.nextTryAt > now) {
    return { kind: 'wait', behind, until: behind.nextTryAt, why: sayObstacle(behind, now) }
  }
  return { kind: 'wait', behind, until: lookAgainAt(now), why: sayObstacle(behind, now) }
}

const SPREAD_MS = 250
const MAX_SPREAD_MS = 60_000

/** When each of `count` runs may start once an obstacle is gone: one after the other, not all at once. */
export function spreadStarts(count: number, now: Date): Date[] {
  const step = Math.min(SPREAD_MS, MAX_SPREAD_MS / Math.max(1, count))
  return Array.from({ length: count }, (_, index) => new Date(now.getTime() + Math.round(index * step)))
}
