/**
 * An obstacle: a usage limit or an outage that holds back every run of the same account (or, if it affects one model
 * only, of the same model of that account). It is opened when an attempt fails because of it, and closed by the first
 * answer of the model. While it is open, one run at a time probes whether it is over, and all others wait.
 *
 *   none ──an attempt met it──→ open, next try at T ──T──→ open, one run probes ──the model answers──→ none
 *                                    ↑                             │
 *                                    └──probe failed: T grows──────┘
 *
 * The first run that is due after T becomes the probe. If it ends without a result (it was cancelled, it crashed), the
 * next run probes.
 */
import type { Outcome } from '../../contract/outcome.ts'
import { formatSpan } from '../span.ts'

export const OBSTACLE_KINDS = ['limit', 'outage'] as const
export type ObstacleKind = (typeof OBSTACLE_KINDS)[number]

export interface Obstacle {
  kind: ObstacleKind
  /** A fingerprint of the account that contains no secret. */
  account: string
  /** null: all models of the account. */
  model: string | null
  /** The agent's error message. */
  message: string
  since: Date
  nextTryAt: Date
  /** When the limit resets, if the agent reported it. */
  resetsAt: Date | null
  /** How many tries in a row failed because of it. */
  failures: number
  lastFailureAt: Date
  /** The last attempt that failed because of it. Settling may be repeated after a crash; the attempt counts once. */
  lastAttemptId: string
}

/** An open obstacle with the run that probes it. */
export interface ObstacleWithProbe extends Obstacle {
  /** The run that probes at present; null: none. */
  probe: string | null
}

/** A limit or outage as the outcome of one attempt describes it. */
export interface Met {
  kind: ObstacleKind
  scope: 'account' | 'model' | 'machine'
  message: string
  resetsAt: Date | null
}

/**
 * null: the attempt did not end because of a limit or an outage. If this machine lacked something, the run waits as it
 * would for an outage, but other runs do not wait with it.
 */
export function metIn({ name, message, scope, resetsAt, temporary }: Outcome): Met | null {
  if (temporary) return { kind: 'outage', scope: 'machine', message, resetsAt: null }
  if (name === 'outage') return { kind: 'outage', scope: scope ?? 'account', message, resetsAt: null }
  if (name !== 'rate-limited') return null
  // A limit without a scope is one of an API key, which vendors count per model.
  return {
    kind: 'limit',
    scope: scope ?? 'model',
    message,
    resetsAt: resetsAt === undefined ? null : new Date(resetsAt),
  }
}

export interface Pauses {
  /** The first pause. */
  backoffMs: number
  /** A random number in [0, 1) that spreads tries. */
  jitter: number
}

export const MAX_PAUSE_MS = 15 * 60_000

/** The pause after `failures` in a row, from 1: doubled each time, up to a quarter of an hour. */
export const pauseAfterMs = (failures: number, backoffMs: number): number =>
  Math.min(MAX_PAUSE_MS, backoffMs * 2 ** Math.min(Math.max(0, failures - 1), 30))

/**
 * An address that has never answered is probably wrong, so it is not treated like a long outage: it is tried
 * SET_UP_TRIES times with short pauses, and runs that wait behind the probe wait for SET_UP_LIMIT_MS. Then a person is
 * asked.
 */
export const SET_UP_TRIES = 3
export const SET_UP_BACKOFF_MS = 20_000
export const SET_UP_LIMIT_MS = 2 * 60_000

/**
 * A paused run tries again by itself if nobody has tried for this long. Reprise looks every hour, so it is a little
 * less than that.
 */
export const RETRY_PAUSED_MS = 50 * 60_000

/** The vendor's clock may differ from the clock of this machine. */
const RESET_MARGIN_MS = 500

/** The new state of the obstacle after an attempt that started at `startedAt` has met it. */
export function meet(
  known: Obstacle | null,
  met: Met,
  attempt: { id: string; account: string; model: string | null; startedAt: Date },
  { backoffMs, jitter }: Pauses,
  now: Date,
): Obstacle {
  if (known?.lastAttemptId === attempt.id) return known
  // Several attempts may have been running when the obstacle began. Only one that started after the last failure is a
  // new try.
  const again = known !== null && attempt.startedAt >= known.lastFailureAt
  if (known && !again && known.kind === met.kind) return known
  const failures = known ? known.failures + (again ? 1 : 0) : 1
  const pause = pauseAfterMs(failures, backoffMs) * (1 + jitter / 2)
  const reset =
    met.resetsAt && Math.max(met.resetsAt.getTime(), now.getTime()) + RESET_MARGIN_MS + 1000 * jitter
  // If the obstacle was still there after a reset, the next reset time is combined with a pause.
  const atLeast = reset !== null && failures === 1 ? 0 : pause
  const nextTry = Math.max(now.getTime() + atLeast, reset ?? 0)
  return {
    kind: met.kind,
    account: attempt.account,
    model: met.scope === 'model' ? attempt.model : null,
    message: met.message,
    since: known?.since ?? now,
    nextTryAt: new Date(Math.round(nextTry)),
    resetsAt: met.resetsAt,
    failures,
    lastFailureAt: now,
    lastAttemptId: attempt.id,
  }
}

/** A run does not wait for a reset that is further away than this; a person has to decide. */
const MAX_RESET_MS = 8 * 86_400_000

/**
 * Why a run must not wait any longer; null: it may wait. The time that this run has waited counts, so a run that is
 * created during an outage may wait for the full time. A limit with a reset time is waited for until then.
 */
export function reasonToGiveUp(
  obstacle: Obstacle,
  waitingSince: Date,
  limitMs: number,
  now: Date,
): string | null {
  const { kind, resetsAt, since } = obstacle
  if (kind === 'limit' && resetsAt && resetsAt > now) {
    return resetsAt.getTime() - now.getTime() > MAX_RESET_MS
      ? `the limit resets at ${resetsAt.toISOString()}; Reprise waits at most ${formatSpan(MAX_RESET_MS)} for a reset`
      : null
  }
  const from = Math.max(since.getTime(), waitingSince.getTime())
  return now.getTime() - from >= limitMs
    ? `gave up after waiting ${formatSpan(limitMs)} (outage.limit), since ${since.toISOString()}`
    : null
}
