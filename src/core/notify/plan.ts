/** Decides which targets are notified about an event. */

import type { CycleOutcome } from '../../contract/cycle.ts'
import type { CycleId, JobId, RunId } from '../../contract/ids.ts'
import type { NotifyEvent } from '../../contract/notification.ts'
import type { NotifyFrom } from '../../contract/watch.ts'
import type { NotifyTarget, TargetRef } from './target.ts'

export type Subject =
  | { kind: 'job'; id: JobId }
  | { kind: 'chain'; id: RunId }
  | { kind: 'cycle'; id: CycleId }

export interface Notice {
  event: NotifyEvent
  /** What the notice is about. The kind is also the key of the payload in the body. */
  subject: Subject
  /**
   * A deduplication key: a notice with the same subject, event and occurrence is sent once. It is the same if settling
   * is repeated after a crash, and different for a later event: the run that ended, or the question that was asked.
   */
  occurrence: string
  payload: NoticePayload
}

/** The subject at the time of the event. Commands also get the named fields as environment variables. */
export interface NoticePayload {
  readonly state: string
  readonly message: string | null
  readonly [field: string]: unknown
}

export interface PlannedNotification extends Notice {
  target: TargetRef
}

/** Restrictions of a watch: which notifications are sent, and to which targets. */
export interface Narrowing {
  /** The configured targets to notify; null: all. */
  only?: readonly string[] | null | undefined
  /**
   * `problem`: not if the result is done and well. `attention`: only if it failed or needs a person. `change`: only if
   * the result differs from the one before.
   */
  notifyFrom?: NotifyFrom | undefined
  /** The result before; null: there is none. */
  before?: Standing | null | undefined
}

export interface Standing {
  outcome: CycleOutcome | null
  status: unknown
}

/** `webhook` is the subject's own and is notified about every event, but not twice if it is a configured target too. */
export function planNotifications(
  notice: Notice,
  targets: readonly NotifyTarget[],
  webhook: string | null,
  { only = null, notifyFrom = 'all', before = null }: Narrowing = {},
): PlannedNotification[] {
  if (!reaches(notice, notifyFrom, before)) return []
  const interested = targets.filter(
    ({ name, on }) => on.includes(notice.event) && (only === null || only.includes(name)),
  )
  const known = interested.some(({ how }) => how.kind === 'webhook' && how.url === webhook)
  const refs: TargetRef[] = interested.map(({ name }) => ({ name }))
  if (webhook !== null && !known) refs.push({ webhook })
  return refs.map((target) => ({ ...notice, target }))
}

export const isWell = (status: unknown) => status === 'healthy' || status === 'fixed'

function reaches({ event, payload }: Notice, from: NotifyFrom, before: Standing | null): boolean {
  if (from === 'change') return isChange(payload, before)
  if (event !== 'done' || from === 'all') return true
  return from === 'problem' && !isWell(payload.status)
}

/**
 * A question to a person is always a change, and so is `fixed`: twice in a row means that something broke twice.
 * Without an earlier result, the state before is assumed to be well.
 */
function isChange({ state, outcome, status }: NoticePayload, before: Standing | null): boolean {
  if (state !== 'ended' || status === 'fixed') return true
  const well = outcome === 'completed' && isWell(status)
  const wasWell = before === null || (before.outcome === 'completed' && isWell(before.status))
  return well ? !wasWell : outcome !== before?.outcome || status !== before?.status
}
