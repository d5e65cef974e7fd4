/** Decides what follows for a run whose attempt met an obstacle: it waits like all others, or has waited too long. */
import type { Outcome } from '../../contract/outcome.ts'
import { type Met, type Obstacle, pauseAfterMs, reasonToGiveUp, SET_UP_TRIES } from './obstacle.ts'
import { outcomeAfterGivingUp, sayObstacle, sayPaused } from './words.ts'

export interface WaitFacts {
  runId: string
  /** A job is paused by settling its run; any other run stays queued and is marked as paused. */
  isJob: boolean
  met: Met
  /** null: other runs get answers, so only the requests of this run fail. */
  obstacle: Obstacle | null
  createdAt: Date
  /**
   * How many of the newest attempts in a row, including this one, made no progress, and when the first of them started.
   */
  withoutProgress: number
  withoutProgressSince: Date
  limitMs: number
  backoffMs: number
  /** The hint for an address that has never answered; null if it has. */
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
  const tooLong =
    (setUp !== null && tries >= SET_UP_TRIES ? `tried ${tries} times; ${setUp}` : null) ??
    (obstacle && reasonToGiveUp(obstacle, facts.createdAt, facts.limitMs, now)) ??
    reasonToGiveUp(alone, facts.withoutProgressSince, facts.limitMs, now)
  if (tooLong !== null) {
    return facts.isJob
      ? { kind: 'settle', outcome: outcomeAfterGivingUp(waitsFor, tooLong) }
      : { kind: 'pause', why: sayPaused(waitsFor, tooLong, facts.runId, obstacle !== null) }
  }
  return {
    kind: 'retry',
    afterMs: Math.max(0, waitsFor.nextTryAt.getTime() - now.getTime()),
    why: setUp === null ? sayObstacle(waitsFor, now) : `${setUp}. ${sayObstacle(waitsFor, now)}`,
    behindObstacle: behind !== null,
  }
}
