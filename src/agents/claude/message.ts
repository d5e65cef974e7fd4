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
/** Subtypes of `system` that the CLI prints only because Reprise asks for partial messages. */
const WITH_PARTIAL: ReadonlySet<string> = new Set(['status', 'session_state_changed'])

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
  if (value.type === 'system' && WITH_PARTIAL.has(String(value.subtype))) return null
  return { kind: 'message', message: value as NativeMessage }
}
