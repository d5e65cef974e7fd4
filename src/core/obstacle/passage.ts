/**
 * Whether a run that is due may start, given the obstacles in its way: it goes, alone, to try whether they are over, or
 * it waits. Waiting runs look again when the next try is due; whoever finds an obstacle gone lets the others go at once,
 * so that these looks are only the safety net.
 */
import { type InTheWay, outlasted } from './obstacle.ts'
import { sayObstacle } from './words.ts'

export interface Passing {
  runId: string
  /** From when on this run could have waited. */
  waitingSince: Date
  /** A person made it go on: it waits for its own try, however long it has waited already. */
  continued: boolean
  limitMs: number
  now: Date
}

export type Passage =
  /** `tries`: the obstacles that this run tries, so that others wait for it. */
  | { kind: 'go'; tries: readonly InTheWay[] }
  | { kind: 'wait'; behind: InTheWay; until: Date; why: string }
  | { kind: 'give-up'; behind: InTheWay; why: string }

/** How soon those that wait for another run's try look again. */
const LOOK_AGAIN_MS = 15_000
export const lookAgainAt = (now: Date) => new Date(now.getTime() + LOOK_AGAIN_MS)

export function decidePassage(obstacles: readonly InTheWay[], passing: Passing): Passage {
  const { runId, now } = passing
  const latest = obstacles.reduce<InTheWay | null>(
    (last, one) => (last && last.nextTryAt >= one.nextTryAt ? last : one),
    null,
  )
  if (latest === null) return { kind: 'go', tries: [] }
  const tried = obstacles.find(({ probe }) => probe !== null && probe !== runId)
  const behind = latest.nextTryAt > now ? latest : (tried ?? null)
  if (behind === null) return { kind: 'go', tries: obstacles }
  const vain = passing.continued ? null : outlasted(behind, passing.waitingSince, passing.limitMs, now)
  if (vain !== null) return { kind: 'give-up', behind, why: vain }
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
