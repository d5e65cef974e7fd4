/**
 * The body of a notification, which is the same for every delivery attempt, and the environment variables for commands.
 */
import type { NotificationId } from '../../contract/ids.ts'
import { cutMiddle } from '../../contract/visible-text.ts'
import type { Notice, NoticePayload, Subject } from './plan.ts'

export interface Sendable extends Pick<Notice, 'event' | 'payload'> {
  id: NotificationId
  createdAt: Date
  subject: { kind: Subject['kind'] | 'test'; id: string }
}

export function composeBody({ id, event, subject, payload, createdAt }: Sendable): string {
  return JSON.stringify({ id, event, at: createdAt.toISOString(), [subject.kind]: payload })
}

const MAX_VARIABLE_CHARS = 2000
/** Even with four bytes per character, this is below the system's limit for a variable. */
const MAX_MESSAGE_CHARS = 16_000

/** Values are cut and NUL is removed, because the system refuses such variables. */
export function composeVariables({ id, event, subject, payload }: Sendable): Record<string, string> {
  const kind = subject.kind.toUpperCase()
  const variables = {
    REPRISE_EVENT: event,
    REPRISE_DELIVERY: id,
    [`REPRISE_${kind}_ID`]: subject.id,
    [`REPRISE_${kind}_STATE`]: payload.state,
    REPRISE_MESSAGE: payload.message ?? '',
    ...(subject.kind === 'cycle' ? cycleVariables(payload) : {}),
  }
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      name === 'REPRISE_MESSAGE'
        ? cutMiddle(value.replaceAll('\0', ''), MAX_MESSAGE_CHARS, 'the JSON on stdin has more')
        : cut(value.replaceAll('\0', ''), MAX_VARIABLE_CHARS),
    ]),
  )
}

function cycleVariables({ watch, outcome, status, summary }: NoticePayload): Record<string, string> {
  return {
    REPRISE_WATCH: String(watch ?? ''),
    REPRISE_CYCLE_OUTCOME: String(outcome ?? ''),
    REPRISE_CYCLE_STATUS: String(status ?? ''),
    REPRISE_CYCLE_SUMMARY: String(summary ?? ''),
  }
}

/** Copies only the fields of `shape`, and cuts texts to `maxChars`. */
export function pickFields<T extends object>(
  shape: Readonly<Record<keyof T, unknown>>,
  from: T,
  maxChars: Readonly<Partial<Record<keyof T, number>>>,
): T {
  const fields = (Object.keys(shape) as (keyof T)[]).map((field) => {
    const value = from[field]
    const limit = maxChars[field]
    return [field, typeof value === 'string' && limit ? cut(value, limit) : value] as const
  })
  return Object.fromEntries(fields) as T
}

export function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`
}
