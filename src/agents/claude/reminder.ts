/**
 * Tells Claude Code what a compaction may have dropped, before it goes on with its turn. After a compaction the CLI runs
 * the hooks for the start of a session with the source `compact`; what they return is part of its next request, and of
 * the transcript. It waits for our answer: one after 75 s was still taken (2.1.325).
 */
import type { EventOf } from '../../contract/events.ts'
import type { AgentAdapter } from '../adapter.ts'
import type { Json } from './wire.ts'

const EVENT = 'SessionStart'

/** The part of `initialize` that makes the CLI ask. */
export const REMINDER_HOOKS = { [EVENT]: [{ matcher: 'compact', hookCallbackIds: ['reminder'] }] }

/** null: another hook. */
export function parseReminderAsk(requestId: string, input: Json): EventOf<'reminder-ask'> | null {
  if (input.hook_event_name !== EVENT) return null
  return { type: 'reminder-ask', requestId, ...(input.agent_id ? { subAgent: true as const } : {}) }
}

export const claudeReminder: NonNullable<AgentAdapter['reminder']> = {
  // The CLI puts a text of more than 10,000 characters into a file and shows the model only its beginning. The rest is for
  // characters that are escaped.
  maxChars: 9_500,
  answer: ({ requestId }, texts) => {
    const output = { hookEventName: EVENT, additionalContext: texts.join('\n\n') }
    const response = texts.length > 0 ? { hookSpecificOutput: output } : {}
    const line = {
      type: 'control_response',
      response: { subtype: 'success', request_id: requestId, response },
    }
    return { id: `answer-${requestId}`, line: JSON.stringify(line) }
  },
}
