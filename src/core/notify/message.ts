/** What is sent: one text, the same for every try, and what a command is told besides. */
import type { NotificationId } from '../../contract/ids.ts'
import type { Notice } from './plan.ts'

export type Sendable = Pick<Notice, 'event' | 'subject' | 'payload'> & { id: NotificationId; createdAt: Date }

export function composeBody({ id, event, subject, payload, createdAt }: Sendable): string {
  return JSON.stringify({ id, event, at: createdAt.toISOString(), [subject.kind]: payload })
}

const MAX_VARIABLE_CHARS = 2000

/** The system takes no variable that is too long, and none with a NUL in it. */
export function composeVariables({ id, event, subject, payload }: Sendable): Record<string, string> {
  const kind = subject.kind.toUpperCase()
  const variables = {
    REPRISE_EVENT: event,
    REPRISE_DELIVERY: id,
    [`REPRISE_${kind}_ID`]: subject.id,
    [`REPRISE_${kind}_STATE`]: payload.state,
    REPRISE_MESSAGE: payload.message ?? '',
  }
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      cut(value.replaceAll('\0', ''), MAX_VARIABLE_CHARS),
    ]),
  )
}

export function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`
}
