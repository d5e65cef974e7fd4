/**
 * The history of a provider's session: messages of two roles, made of text, tool calls and their results. The shape is
 * that of `agent-sessions/<id>/session.json`, which people and other programs read.
 */
import { z } from 'zod'

export const ToolUse = z.object({ id: z.string(), name: z.string(), input: z.unknown() })
export type ToolUse = z.infer<typeof ToolUse>

export const ToolOutput = z.object({
  tool_use_id: z.string(),
  content: z.unknown(),
  is_error: z.boolean().optional(),
})
export type ToolOutput = z.infer<typeof ToolOutput>

export const HistoryBlock = z.object({
  type: z.enum(['text', 'tool_use', 'tool_result']),
  text: z.string().optional(),
  tool_use: ToolUse.optional(),
  tool_result: ToolOutput.optional(),
})
export type HistoryBlock = z.infer<typeof HistoryBlock>

export const HistoryMessage = z.object({
  role: z.enum(['user', 'assistant']),
  content: z.array(HistoryBlock),
  timestamp: z.string().optional(),
})
export type HistoryMessage = z.infer<typeof HistoryMessage>

export const QUERY_SESSION_STATUS = ['active', 'paused', 'completed', 'expired'] as const

export interface QuerySessionMetadata {
  id: string
  model: string
  cwd: string
  createdAt: string
  lastMessageAt: string
  messageCount: number
  turnCount: number
  totalInputTokens: number
  totalOutputTokens: number
  status: (typeof QUERY_SESSION_STATUS)[number]
  lastStopReason?: string
}

/** The content of `session.json`. */
export interface PersistedSession {
  id: string
  metadata: QuerySessionMetadata
  messages: HistoryMessage[]
}

/** A tool result that a reconstructed context does not contain, and why. */
export interface DroppedResult {
  toolUseId: string
  tool: string
  path?: string
  reason: string
}
