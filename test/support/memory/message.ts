/** What an agent in memory prints, in the form of the Agent SDK's messages. */
import type { OutputMessage } from '../../../src/agents/adapter.ts'
import { EventBody } from '../../../src/contract/events.ts'

export function readMemoryMessage(line: string): OutputMessage | null {
  const value = parse(line)
  const parsed = EventBody.safeParse(value)
  if (!parsed.success) return null
  const { session_id } = value as { session_id: string }
  const event = parsed.data
  const message = (body: Record<string, unknown> & { type: string }) => ({
    kind: 'message' as const,
    message: { session_id, uuid: '', ...body },
  })
  const said = (role: 'assistant' | 'user', block: object) =>
    message({ type: role, parent_tool_use_id: null, message: { role, content: [block] } })
  switch (event.type) {
    case 'session-start':
      return message({ type: 'system', subtype: 'init' })
    case 'text-delta':
      return {
        ...message({ type: 'stream_event', event: { type: 'text', text: event.text } }),
        partial: true,
      }
    case 'text-end':
      return said('assistant', { type: 'text', text: event.text })
    case 'tool-start':
      return said('assistant', {
        type: 'tool_use',
        id: event.toolUseId,
        name: event.name,
        input: event.input,
      })
    case 'tool-end':
      return said('user', { type: 'tool_result', tool_use_id: event.toolUseId, content: event.content })
    case 'permission-ask': {
      const { requestId, tool: tool_name, input } = event
      return { kind: 'ask', requestId, request: { subtype: 'can_use_tool', tool_name, input } }
    }
    case 'question-ask': {
      const { requestId, questions } = event
      return {
        kind: 'ask',
        requestId,
        request: { subtype: 'can_use_tool', tool_name: 'Ask', input: { questions } },
      }
    }
    case 'turn-end': {
      const failed = event.outcome.name !== 'completed'
      return message({
        type: 'result',
        subtype: failed ? `error_${event.outcome.name}` : 'success',
        is_error: failed,
        num_turns: event.turns ?? 0,
        stop_reason: event.stopReason ?? (failed ? null : 'end_turn'),
        result: event.text,
      })
    }
    default:
      return null
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
