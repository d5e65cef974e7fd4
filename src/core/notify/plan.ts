/** Who is to be told of an event. */
import type { CycleId, JobId, RunId } from '../../contract/ids.ts'
import type { NotifyEvent } from '../../contract/notification.ts'
import type { CycleOutcome, NotifyFrom } from '../../contract/watch.ts'
import type { NotifyTarget, TargetRef } from './target.ts'

export type Subject =
  | { kind: 'job'; id: JobId }
  | { kind: 'chain'; id: RunId }
  | { kind: 'cycle'; id: CycleId }

export interface Notice {
  event: NotifyEvent
  /** What it is about. The kind is also the key under which the body has the payload. */
  subject: Subject
  /**
   * Tells one happening of the event from another: noted twice with the same one, it is sent once. What a repetition of
   * the same settling would say again, and a later one would not: the run that ended, the question that was asked.
   */
  occurrence: string
  payload: NoticePayload
}

/** The subject as it is at that moment. The named fields are also told to commands, as variables. */
export interface NoticePayload {
  readonly state: string
  readonly message: string | null
  readonly [field: string]: unknown
}

export interface PlannedNotification extends Notice {
  target: TargetRef
}

/** What a subject's owner does not want to be told, or not everywhere. */
export interface Narrowing {
  /** Of the configured targets, those to be told; null: all. */
  only?: readonly string[] | null | undefined
  /**
   * `problem`: not what is done and well. `attention`: only what has failed or needs a person. `change`: not what is as
   * it was before.
   */
  notifyFrom?: NotifyFrom | undefined
  /** How it was before; null: nobody has looked yet. */
  before?: Standing | null | undefined
}

export interface Standing {
  outcome: CycleOutcome | null
  status: unknown
}

/** `webhook` is the subject's own, told of everything that anybody may be told; no address is told twice. */
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
 * What asks a person is always news, and so is that something was done: `fixed` twice means that it broke twice. Until
 * somebody has looked, all is thought to be well.
 */
function isChange({ state, outcome, status }: NoticePayload, before: Standing | null): boolean {
  if (state !== 'ended' || status === 'fixed') return true
  const well = outcome === 'completed' && isWell(status)
  const wasWell = before === null || (before.outcome === 'completed' && isWell(before.status))
  return well ? !wasWell : outcome !== before?.outcome || status !== before?.status
}
