/**
 * Claude Code's lines as the messages of the Agent SDK: the SDK hands them out as they are, apart from those of the
 * control protocol, which it answers itself.
 */
import type { NativeMessage, OutputMessage } from '../adapter.ts'
import { isRecord } from './wire.ts'

/** Lines between the CLI and the program that drives it. */
const INTERNAL: ReadonlySet<string> = new Set([
  'control_response',
  'control_cancel_request',
  'command_lifecycle',
  'keep_alive',
  'transcript_mirror',
  'streamlined_text',
  'streamlined_tool_use_summary',
])

export function readClaudeMessage(line: string): OutputMessage | null {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return null
  }
  if (!isRecord(value) || typeof value.type !== 'string' || INTERNAL.has(value.type)) return null
  if (value.type === 'control_request') {
    const { request_id: requestId, request } = value
    return typeof requestId === 'string' && isRecord(request) ? { kind: 'ask', requestId, request } : null
  }
  const message = value as NativeMessage
  // Reprise always asks for partial messages; the CLI prints `system/status` only with them.
  const isPartial = value.type === 'stream_event' || (value.type === 'system' && value.subtype === 'status')
  return isPartial ? { kind: 'message', message, partial: true } : { kind: 'message', message }
}
