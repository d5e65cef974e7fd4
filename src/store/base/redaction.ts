/** Defines which fields of a row may contain secrets, and which are ids that must stay as they are. */
import type { EventType } from '../../contract/events.ts'
import type { Redactor } from '../../core/redact/redactor.ts'

/**
 * These events contain only ids and figures, or pieces of streamed text. A secret may be spread over several pieces, so
 * the reader redacts the stream as a whole (core/redact/deltas.ts).
 */
const PLAIN: ReadonlySet<EventType> = new Set([
  'attempt-start',
  'session-start',
  'prompt-accept',
  'question-cancel',
  'model-call',
  'rate-limit',
  'compaction',
  'reminder-ask',
  'reminder',
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
