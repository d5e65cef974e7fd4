/** What follows for the run whose attempt met an obstacle: it waits behind it like all others, or is to wait no longer. */
import type { Outcome } from '../../contract/outcome.ts'
import { type Met, type Obstacle, outlasted, pauseAfterMs, SET_UP_TRIES } from './obstacle.ts'
import { outcomeInVain, sayObstacle, sayPaused } from './words.ts'

export interface WaitFacts {
  runId: string
  /** A job is paused by settling its run; any other run is paused as it is. */
  isJob: boolean
  met: Met
  /** null: others are answered, so it is only this run's request that fails. */
  obstacle: Obstacle | null
  createdAt: Date
  /** The newest attempts in a row that added nothing, this one included, and when the first of them began. */
  withoutProgress: number
  withoutProgressSince: Date
  limitMs: number
  backoffMs: number
  /** What to say of an address that has never answered; null if it has. */
  setUp: string | null
  now: Date
}

export type Wait =
  | { kind: 'retry'; afterMs: number; why: string; behindObstacle: boolean }
  | { kind: 'pause'; why: string }
  | { kind: 'settle'; outcome: Outcome }

export function decideWait(facts: WaitFacts): Wait {
  const { met, obstacle, withoutProgress, backoffMs, now, setUp } = facts
  const ownTryAt = new Date(now.getTime() + pauseAfterMs(withoutProgress, backoffMs))
  const alone: Obstacle = {
    ...met,
    account: '',
    model: null,
    since: facts.withoutProgressSince,
    nextTryAt: ownTryAt,
    failures: withoutProgress,
    lastFailureAt: now,
    lastAttemptId: '',
  }
  const behind = obstacle && obstacle.nextTryAt >= ownTryAt ? obstacle : obstacle?.resetsAt ? obstacle : null
  const waitsFor = { ...(behind ?? alone), probe: null }
  const tries = Math.max(withoutProgress, obstacle?.failures ?? 0)
  const vain =
    (setUp !== null && tries >= SET_UP_TRIES ? `tried ${tries} times; ${setUp}` : null) ??
    (obstacle && outlasted(obstacle, facts.createdAt, facts.limitMs, now)) ??
    outlasted(alone, facts.withoutProgressSince, facts.limitMs, now)
  if (vain !== null) {
    return facts.isJob
      ? { kind: 'settle', outcome: outcomeInVain(waitsFor, vain) }
      : { kind: 'pause', why: sayPaused(waitsFor, vain, facts.runId, obstacle !== null) }
  }
  return {
    kind: 'retry',
    afterMs: Math.max(0, waitsFor.nextTryAt.getTime() - now.getTime()),
    why: setUp === null ? sayObstacle(waitsFor, now) : `${setUp}. ${sayObstacle(waitsFor, now)}`,
    behindObstacle: behind !== null,
  }
}
