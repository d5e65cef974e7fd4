/** What of a row may be a secret, and what is needed to find and act on things and is left as it is. */
import type { EventType } from '../../contract/events.ts'
import type { Redactor } from '../../core/redact/redactor.ts'

/**
 * Nothing but ids and figures is in these; and pieces of what is streamed, which whoever reads it has redacted as a whole
 * (core/redact/deltas.ts): one by one it could not be done.
 */
const PLAIN: ReadonlySet<EventType> = new Set([
  'attempt-start',
  'session-start',
  'prompt-accept',
  'question-cancel',
  'model-call',
  'rate-limit',
  'compaction',
  'memory-clear',
  'gap',
  'text-delta',
  'thinking-delta',
  'tool-input-delta',
] as const)

const IDS: ReadonlySet<string> = new Set(['type', 'requestId', 'toolUseId', 'parentToolUseId', 'messageId'])

export function redactEvent(redactor: Redactor, type: EventType, text: string): string {
  return PLAIN.has(type) ? text : redactor.json(text, IDS)
}

export function redactAsk(redactor: Redactor, ask: string): string {
  return redactor.json(ask, IDS)
}

const NOTICE_IDS: ReadonlySet<string> = new Set([
  'id',
  'state',
  'runId',
  'rootRunId',
  'watchId',
  'session',
  'sessionId',
])

export function redactNotice(redactor: Redactor, payload: string): string {
  return redactor.json(payload, NOTICE_IDS)
}
