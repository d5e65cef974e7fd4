/**
 * The lifecycle of a session, as people see it. It does not decide whether a session is resumed: that is
 * core/resume/decide.ts, and every state but `created` can be resumed where its guards allow it.
 *
 *   created ──→ active            its first message was accepted
 *   active  ──→ active            further messages
 *           ├─→ completed         the model ended its turn by itself, and no follow-up is planned in the session
 *           └─→ paused            nothing happened for `pauseAfterMs`
 *   paused  ──→ expired           nothing happened for `idleTimeoutMs`, and no follow-up is planned in the session
 *   created ──→ expired           likewise; its agent never accepted a message
 *   paused, completed, expired ──→ active     asked for again
 *   active, paused ──→ completed  the last turn ended by itself, and its last planned follow-up is gone
 *   completed ──→ paused          a follow-up was planned in it afterwards: it waits for that
 *
 * A session that a process uses neither pauses nor expires. Expired and completed sessions are archived once nothing
 * happened in them for `idleTimeoutMs`; none is deleted.
 */
import type { SessionLifecycle } from '../../contract/session.ts'

export interface LifecycleFacts {
  state: SessionLifecycle
  lastActivityAt: Date
  /** The model ended its last turn by itself; false: the turn was cut off or failed, or there was none. */
  finished: boolean
  plannedFollowUps: number
  /** A process has the session open. */
  inUse: boolean
}

export interface LifecycleLimits {
  pauseAfterMs: number
  idleTimeoutMs: number
}

/**
 * message: the agent accepted a message · resume: the resume decision allowed to continue it · turn-end: an attempt
 * ended; the facts are those after it · plan: a follow-up was planned or is gone · look: time has passed.
 */
export type LifecycleTrigger =
  | { kind: 'message' | 'resume' | 'turn-end' | 'plan' }
  | { kind: 'look'; limits: LifecycleLimits }

/** The state after the trigger; the same state if nothing changes. `now` matters for `look` only. */
export function nextLifecycle(facts: LifecycleFacts, trigger: LifecycleTrigger, now: Date): SessionLifecycle {
  const { state } = facts
  switch (trigger.kind) {
    case 'message':
      return 'active'
    case 'resume':
      return state === 'created' ? 'created' : 'active'
    case 'turn-end':
      if (state === 'created') return 'created'
      return isDone(facts) ? 'completed' : 'active'
    case 'plan':
      return afterPlan(facts)
    case 'look': {
      const planned = afterPlan(facts)
      return planned === state ? afterTime(facts, trigger.limits, now) : planned
    }
  }
}

/** Whether the session is to be archived now. */
export function isArchivable(
  { state, lastActivityAt, inUse }: Pick<LifecycleFacts, 'state' | 'lastActivityAt' | 'inUse'>,
  { idleTimeoutMs }: LifecycleLimits,
  now: Date,
): boolean {
  const isOver = state === 'expired' || state === 'completed'
  return isOver && !inUse && now.getTime() - lastActivityAt.getTime() > idleTimeoutMs
}

const isDone = ({ finished, plannedFollowUps }: LifecycleFacts) => finished && plannedFollowUps === 0

function afterPlan(facts: LifecycleFacts): SessionLifecycle {
  const { state, inUse, plannedFollowUps } = facts
  if (inUse) return state
  if (state === 'completed') return plannedFollowUps > 0 ? 'paused' : 'completed'
  if (state === 'active' || state === 'paused') return isDone(facts) ? 'completed' : state
  return state
}

function afterTime(
  { state, lastActivityAt, plannedFollowUps, inUse }: LifecycleFacts,
  { pauseAfterMs, idleTimeoutMs }: LifecycleLimits,
  now: Date,
): SessionLifecycle {
  if (inUse) return state
  const idleMs = now.getTime() - lastActivityAt.getTime()
  if (state === 'active') return idleMs > pauseAfterMs ? 'paused' : 'active'
  const mayExpire = state === 'created' || (state === 'paused' && plannedFollowUps === 0)
  return mayExpire && idleMs > idleTimeoutMs ? 'expired' : state
}
