/**
 * The record of one model request: what the model was sent, and how it was answered. It is one live object: it appears
 * when the request arrives and is filled in during the answer.
 */
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Message } from './messages-body.ts'
import type { MessagesRequest, ToolResult } from './messages-request.ts'
import type { PromptBlock } from './prompt-blocks.ts'
import type { CacheUsage } from './prompt-cache.ts'
import type { RequestKind } from './scenario-types.ts'

/** As the API reports it. */
export interface Usage {
  input_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
  cache_creation: { ephemeral_5m_input_tokens: number; ephemeral_1h_input_tokens: number }
  output_tokens: number
}

export interface RequestRecord {
  /** 1, 2, 3… in order of arrival; continues across `reset`. */
  n: number
  at: Date
  kind: RequestKind | 'count'
  model: string
  stream: boolean
  sessionId: string | undefined
  userAgent: string | undefined
  /** Set if a sub-agent asks; it shares the session id of its parent. */
  agentId: string | undefined
  system: string
  tools: string[]
  messages: Message[]
  /** A hash of each block of the prompt (tools, system, messages): equal hashes are equal for the prompt cache. */
  blocks: string[]
  bodyBytes: number
  userText: string
  toolResults: ToolResult[]
  rule: string | undefined
  /** The hold at which the reply waits now. */
  heldAt: string | undefined
  status: number | undefined
  /** `clientGone`: the client disconnected before the reply was complete. */
  outcome: 'pending' | 'answered' | 'failed' | 'cut' | 'clientGone'
  usage: Usage | undefined
}

export function newRecord(
  n: number,
  at: Date,
  path: 'messages' | 'count',
  headers: IncomingHttpHeaders,
  request: MessagesRequest,
  bodyBytes: number,
  blocks: readonly PromptBlock[],
): RequestRecord {
  return {
    n,
    at,
    kind: path === 'count' ? 'count' : request.kind,
    model: request.body.model,
    stream: request.body.stream === true,
    sessionId: request.sessionId,
    userAgent: header(headers, 'user-agent'),
    agentId: header(headers, 'x-claude-code-agent-id'),
    system: request.systemText,
    tools: request.toolNames,
    messages: request.body.messages,
    blocks: blocks.map(({ identity }) => createHash('sha256').update(identity).digest('hex')),
    bodyBytes,
    userText: request.userText,
    toolResults: request.toolResults,
    rule: undefined,
    heldAt: undefined,
    status: undefined,
    outcome: 'pending',
    usage: undefined,
  }
}

export function toUsage(used: CacheUsage): Usage {
  return {
    input_tokens: used.inputTokens,
    cache_creation_input_tokens: used.cacheWrite5mTokens + used.cacheWrite1hTokens,
    cache_read_input_tokens: used.cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: used.cacheWrite5mTokens,
      ephemeral_1h_input_tokens: used.cacheWrite1hTokens,
    },
    output_tokens: 0,
  }
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
