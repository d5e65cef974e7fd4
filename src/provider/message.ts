/**
 * The messages that a query yields. They have the form of the Agent SDK's `SDKMessage`; only the fields that every
 * version has are named here. A message that the agent printed is handed out as it is.
 */

interface Message {
  session_id: string
  uuid: string
  [field: string]: unknown
}

export interface SystemMessage extends Message {
  type: 'system'
  /** `init` begins each turn. */
  subtype: string
}

/** One block of the vendor's API: `text`, `tool_use`, `tool_result`, `thinking` and others. */
export interface ApiBlock {
  type: string
  [field: string]: unknown
}

export interface AssistantMessage extends Message {
  type: 'assistant'
  message: { role: 'assistant'; content: ApiBlock[]; [field: string]: unknown }
  /** Set for a sub-agent: the tool call that started it. */
  parent_tool_use_id: string | null
}

export interface UserMessage extends Message {
  type: 'user'
  message: { role: 'user'; content: string | ApiBlock[] }
  parent_tool_use_id: string | null
}

/** A piece of an answer. Only with `includePartialMessages`. */
export interface StreamEventMessage extends Message {
  type: 'stream_event'
  event: ApiBlock
  parent_tool_use_id: string | null
}

export interface ResultMessage extends Message {
  type: 'result'
  /** `success`, or what went wrong: `error_during_execution`, `error_max_turns`, `error_max_budget_usd`. */
  subtype: string
  is_error: boolean
  duration_ms: number
  duration_api_ms: number
  num_turns: number
  /** The text of the answer; only with `success`. */
  result?: string
  stop_reason: string | null
  total_cost_usd: number
  usage: { input_tokens: number; output_tokens: number; [field: string]: unknown }
  /** Only with an error. */
  errors?: string[]
}

/** Whatever else the agent reports, such as rate limits. */
export interface OtherMessage extends Message {
  type: 'rate_limit_event' | 'tool_progress' | 'auth_status' | 'tool_use_summary' | 'prompt_suggestion'
}

export type ProviderMessage =
  | SystemMessage
  | AssistantMessage
  | UserMessage
  | StreamEventMessage
  | ResultMessage
  | OtherMessage
