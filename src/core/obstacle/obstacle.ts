/**
 * An obstacle: a limit of use, or an outage, that holds back every run which uses the same account (or, where it is about
 * one model, the same model of that account). It is opened by the end of an attempt and closed by the first answer of
 * the model. While it is open one run at a time tries whether it is over, and all others wait.
 *
 *   none ──an attempt met it──→ open, next try at T ──T──→ open, one run tries ──the model answers──→ none
 *                                    ↑                             │
 *                                    └──it met it again: T grows───┘
 *
 * The run that tries is whichever comes first once the next try is due. If it ends without having found out (it was
 * cancelled, it crashed), the next one tries.
 */
import type { Outcome } from '../../contract/outcome.ts'
import { formatSpan } from '../span.ts'

export const OBSTACLE_KINDS = ['limit', 'outage'] as const
export type ObstacleKind = (typeof OBSTACLE_KINDS)[number]

export interface Obstacle {
  kind: ObstacleKind
  /** Which account, as a fingerprint that holds no secret. */
  account: string
  /** null: all models of the account. */
  model: string | null
  /** What the agent said about it. */
  message: string
  since: Date
  nextTryAt: Date
  /** When the limit resets, where somebody said so. */
  resetsAt: Date | null
  /** How many tries in a row have met it. */
  failures: number
  lastFailureAt: Date
  /** The attempt that met it last: its end may be written down twice, and counts once. */
  lastAttemptId: string
}

/** An open obstacle as a run finds it. */
export interface InTheWay extends Obstacle {
  /** The run that tries at present. */
  probe: string | null
}

/** What an attempt met, as far as its outcome tells. */
export interface Met {
  kind: ObstacleKind
  scope: 'account' | 'model'
  message: string
  resetsAt: Date | null
}

/** null: the attempt did not end because of a limit or an outage. */
export function metIn({ name, message, scope, resetsAt }: Outcome): Met | null {
  if (name === 'outage') return { kind: 'outage', scope: scope ?? 'account', message, resetsAt: null }
  if (name !== 'rate-limited') return null
  // Limits that nobody names are those of an API key, and are counted for each model.
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
  /** In [0, 1): spreads tries. */
  jitter: number
}

export const MAX_PAUSE_MS = 15 * 60_000

/** The pause after `failures` in a row, from 1: doubled each time, up to a quarter of an hour. */
export const pauseAfterMs = (failures: number, backoffMs: number): number =>
  Math.min(MAX_PAUSE_MS, backoffMs * 2 ** Math.min(Math.max(0, failures - 1), 30))

/**
 * An address that has never answered is not waited for as an outage is: it is probably wrong. It is tried so often, with
 * shorter pauses, and those that wait behind the one that tries wait for so long; then a person is asked.
 */
export const SET_UP_TRIES = 3
export const SET_UP_BACKOFF_MS = 20_000
export const SET_UP_LIMIT_MS = 2 * 60_000

/** The clock that said when a limit resets may not be ours. */
const RESET_MARGIN_MS = 500

/** The obstacle as it is once an attempt that began at `startedAt` has met it. */
export function meet(
  known: Obstacle | null,
  met: Met,
  attempt: { id: string; account: string; model: string | null; startedAt: Date },
  { backoffMs, jitter }: Pauses,
  now: Date,
): Obstacle {
  if (known?.lastAttemptId === attempt.id) return known
  // Several may have been at work when it began: only who began after the last of them tells anything new.
  const again = known !== null && attempt.startedAt >= known.lastFailureAt
  if (known && !again && known.kind === met.kind) return known
  const failures = known ? known.failures + (again ? 1 : 0) : 1
  const pause = pauseAfterMs(failures, backoffMs) * (1 + jitter / 2)
  const reset =
    met.resetsAt && Math.max(met.resetsAt.getTime(), now.getTime()) + RESET_MARGIN_MS + 1000 * jitter
  // A reset that did not help is not believed a second time without a pause.
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

/** Resets later than this are not waited for: somebody has to decide. */
const MAX_RESET_MS = 8 * 86_400_000

/**
 * Why a run is not to wait any longer, or null. What counts is how long this run has waited: one that is asked for in the
 * middle of an outage has all of its time before it. A limit that says when it resets has its own time.
 */
export function outlasted(obstacle: Obstacle, waitingSince: Date, limitMs: number, now: Date): string | null {
  const { kind, resetsAt, since } = obstacle
  if (kind === 'limit' && resetsAt && resetsAt > now) {
    return resetsAt.getTime() - now.getTime() > MAX_RESET_MS
      ? `the limit resets at ${resetsAt.toISOString()}, which is too far away to wait for`
      : null
  }
  const from = Math.max(since.getTime(), waitingSince.getTime())
  return now.getTime() - from >= limitMs
    ? `waited ${formatSpan(limitMs)} in vain (outage.limit), since ${since.toISOString()}`
    : null
}
