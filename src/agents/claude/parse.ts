/**
 * Parses one line of Claude Code's stream-json into neutral events. It is a function of the line alone, so that reading
 * can stop and continue at any line, also in another process. It never throws: JSON of an unknown kind becomes
 * `native`, anything else `raw-line`.
 *
 * `assistant` lines repeat the partial messages, without the final token counts; complete texts and tool calls are
 * taken from them. Token counts come from the partial messages (`message_start`, then `message_delta`), or from
 * `assistant` lines if the CLI sends no partial ones; a later `model-call` with the same message id replaces the
 * earlier one.
 */
import type { EventBody } from '../../contract/events.ts'
import { describeClaudeTool } from './describe-tool.ts'
import { parseControlRequest } from './parse-control.ts'
import { parseResult } from './parse-result.ts'
import { parseRateLimit, parseSystem } from './parse-system.ts'
import { isRecord, type Json, optionalString, readCacheTtl, readUsage, withParent } from './wire.ts'

export function parseClaudeLine(line: string): EventBody[] {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return [{ type: 'raw-line', text: line }]
  }
  if (!isRecord(value)) return [{ type: 'raw-line', text: line }]
  return parseMessage(value) ?? [native(value)]
}

function native(value: Json): EventBody {
  const { type, subtype } = value
  const name = typeof subtype !== 'string' ? type : typeof type === 'string' ? `${type}/${subtype}` : subtype
  return { type: 'native', name: typeof name === 'string' && name ? name : 'unknown', line: value }
}

/** undefined: there is no neutral event for it. */
function parseMessage(value: Json): EventBody[] | undefined {
  switch (value.type) {
    case 'stream_event':
      return isRecord(value.event) ? parseStreamEvent(value.event, value) : undefined
    case 'assistant':
      return isRecord(value.message) ? parseAssistant(value.message, value) : undefined
    case 'user':
      return isRecord(value.message) ? parseToolResults(value.message, value) : undefined
    case 'result':
      return [parseResult(value)]
    case 'system':
      return parseSystem(value)
    case 'control_request':
      return parseControlRequest(value)
    case 'control_response':
      return parseControlResponse(value)
    case 'control_cancel_request':
      return typeof value.request_id === 'string'
        ? [{ type: 'question-cancel', requestId: value.request_id }]
        : undefined
    case 'command_lifecycle':
      return value.state === 'started' && typeof value.command_uuid === 'string'
        ? [{ type: 'prompt-accept', messageId: value.command_uuid }]
        : undefined
    case 'conversation_reset':
      return value.trigger === 'clear' ? [{ type: 'memory-clear' }] : undefined
    case 'rate_limit_event':
      return parseRateLimit(value)
    default:
      return undefined
  }
}

/**
 * The answer to `initialize` lists all capabilities of the CLI, about 17 kB in each run: only the fact that it came is
 * kept.
 */
function parseControlResponse({ response: answer, ...value }: Json): EventBody[] | undefined {
  if (!isRecord(answer) || !isRecord(answer.response) || !Array.isArray(answer.response.commands)) return
  const { response: _, ...response } = answer
  return [native({ ...value, response })]
}

function parseStreamEvent(event: Json, value: Json): EventBody[] | undefined {
  switch (event.type) {
    case 'content_block_delta':
      return isRecord(event.delta) ? parseDelta(event.delta, value) : undefined
    case 'message_start':
      return isRecord(event.message) ? modelCall(event.message, value) : undefined
    case 'message_delta':
      // When it is interrupted, the CLI writes a delta of its own, without a stop reason and with wrong figures.
      return typeof value.api_message_id === 'string' && isRecord(event.usage) && hasStopReason(event.delta)
        ? [
            withParent(
              { type: 'model-call', messageId: value.api_message_id, usage: readUsage(event.usage) },
              value,
            ),
          ]
        : undefined
    default:
      return undefined
  }
}

const hasStopReason = (delta: unknown) => isRecord(delta) && typeof delta.stop_reason === 'string'

function parseDelta(delta: Json, value: Json): EventBody[] | undefined {
  if (typeof delta.text === 'string') return [withParent({ type: 'text-delta', text: delta.text }, value)]
  if (typeof delta.partial_json === 'string') {
    return [withParent({ type: 'tool-input-delta', text: delta.partial_json }, value)]
  }
  if (typeof delta.thinking === 'string') {
    return [withParent({ type: 'thinking-delta', text: delta.thinking }, value)]
  }
  return undefined
}

function modelCall(message: Json, value: Json): EventBody[] | undefined {
  if (typeof message.id !== 'string' || !isRecord(message.usage)) return undefined
  const { id: messageId, model } = message
  const usage = readUsage(message.usage)
  const named = typeof model === 'string' ? { messageId, model, usage } : { messageId, usage }
  const ttl = readCacheTtl(message.usage)
  return [withParent({ type: 'model-call', ...named, ...ttl }, value)]
}

function parseAssistant(message: Json, value: Json): EventBody[] | undefined {
  // The CLI's own texts come as messages of the model "<synthetic>". The output of a command such as /context is an
  // answer, and marked as one; other texts, such as an API error, are not.
  const synthetic = message.model === '<synthetic>'
  const notice = synthetic && typeof value.local_command_source !== 'string'
  const events = synthetic ? [] : (modelCall(message, value) ?? [])
  const blocks = Array.isArray(message.content) ? message.content : []
  for (const block of blocks) {
    if (!isRecord(block)) continue
    if (block.type === 'text' && typeof block.text === 'string' && notice) {
      events.push({ type: 'notice', text: block.text })
    } else if (block.type === 'text' && typeof block.text === 'string') {
      const messageId = optionalString('messageId', message.id)
      events.push(withParent({ type: 'text-end', text: block.text, ...messageId }, value))
    } else if (block.type === 'thinking' && typeof block.thinking === 'string') {
      events.push(withParent({ type: 'thinking-end', text: block.thinking }, value))
    } else if (block.type === 'tool_use' && typeof block.id === 'string' && typeof block.name === 'string') {
      const { id: toolUseId, name, input } = block
      const described = describeClaudeTool(name, input)
      events.push(withParent({ type: 'tool-start', toolUseId, name, input, ...described }, value))
    }
  }
  return events.length > 0 ? events : undefined
}

function parseToolResults(message: Json, value: Json): EventBody[] | undefined {
  const events: EventBody[] = []
  for (const block of Array.isArray(message.content) ? message.content : []) {
    if (!isRecord(block) || block.type !== 'tool_result' || typeof block.tool_use_id !== 'string') continue
    const { tool_use_id: toolUseId, content } = block
    events.push(withParent({ type: 'tool-end', toolUseId, isError: block.is_error === true, content }, value))
  }
  return events.length > 0 ? events : undefined
}
