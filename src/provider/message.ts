/**
 * The messages that a query yields. They have the form of the Agent SDK's `SDKMessage`: code that was written for the SDK
 * reads them unchanged (test/provider/types.test.ts). Fields that every version has are named here; a message that the agent
 * printed is handed out as it is, with all its fields. A program that has the SDK installed can use the SDK's own types:
 * `createProvider<SDKMessage>()`.
 */

interface Message {
  session_id: string
  uuid: string
  [field: string]: unknown
}

/** Begins each turn. */
export interface InitMessage extends Message {
  type: 'system'
  subtype: 'init'
  cwd: string
  model: string
  tools: string[]
  permissionMode: string
  apiKeySource: string
  claude_code_version: string
  mcp_servers: { name: string; status: string }[]
  slash_commands: string[]
}

/** The agent has replaced the older part of its context by a summary. */
export interface CompactBoundaryMessage extends Message {
  type: 'system'
  subtype: 'compact_boundary'
  compact_metadata: { trigger: 'manual' | 'auto'; pre_tokens: number }
}

/** Whatever else the agent says about itself. */
export interface NoticeMessage extends Message {
  type: 'system'
  subtype:
    | 'api_retry'
    | 'background_tasks_changed'
    | 'commands_changed'
    | 'control_request_progress'
    | 'elicitation_complete'
    | 'files_persisted'
    | 'hook_progress'
    | 'hook_response'
    | 'hook_started'
    | 'informational'
    | 'local_command_output'
    | 'memory_recall'
    | 'mirror_error'
    | 'model_refusal_fallback'
    | 'model_refusal_no_fallback'
    | 'notification'
    | 'permission_denied'
    | 'plugin_install'
    | 'session_state_changed'
    | 'session_writes_lost'
    | 'status'
    | 'task_notification'
    | 'task_progress'
    | 'task_started'
    | 'task_updated'
    | 'thinking_tokens'
    | 'worker_shutting_down'
}

export type SystemMessage = InitMessage | CompactBoundaryMessage | NoticeMessage

export interface TextBlock {
  type: 'text'
  text: string
}

export interface ThinkingBlock {
  type: 'thinking'
  thinking: string
  signature: string
}

export interface ToolUseBlock {
  type: 'tool_use'
  id: string
  name: string
  input: unknown
}

/** Blocks of the vendor's own tools, and others that a program rarely reads. */
export interface OtherBlock {
  type:
    | 'redacted_thinking'
    | 'server_tool_use'
    | 'web_search_tool_result'
    | 'web_fetch_tool_result'
    | 'advisor_tool_result'
    | 'code_execution_tool_result'
    | 'bash_code_execution_tool_result'
    | 'text_editor_code_execution_tool_result'
    | 'tool_search_tool_result'
    | 'mcp_tool_use'
    | 'mcp_tool_result'
    | 'mcp_tool_listing'
    | 'container_upload'
    | 'compaction'
    | 'fallback'
}

/** One block of an answer, as in the vendor's API. */
export type ApiBlock = TextBlock | ThinkingBlock | ToolUseBlock | OtherBlock

export interface Usage {
  input_tokens: number
  output_tokens: number
  cache_read_input_tokens: number | null
  cache_creation_input_tokens: number | null
}

export interface AssistantMessage extends Message {
  type: 'assistant'
  message: {
    id: string
    role: 'assistant'
    model: string
    content: ApiBlock[]
    stop_reason: string | null
    usage: Usage
  }
  /** Set for a sub-agent: the tool call that started it. */
  parent_tool_use_id: string | null
}

/** A block of a message of the user. The results of tools are such blocks. */
export type UserBlock =
  | TextBlock
  | { type: 'tool_result'; tool_use_id: string; content?: unknown; is_error?: boolean | undefined }
  | { type: string }

export interface UserMessage extends Message {
  type: 'user'
  message: { role: string; content: string | UserBlock[] }
  parent_tool_use_id: string | null
}

/** An event of the vendor's streaming API. */
export type StreamEvent =
  | { type: 'message_start'; message: { id: string; model: string; usage: Usage } }
  | { type: 'content_block_start'; index: number; content_block: { type: string } }
  | {
      type: 'content_block_delta'
      index: number
      delta:
        | { type: 'text_delta'; text: string }
        | { type: 'thinking_delta'; thinking: string }
        | { type: 'input_json_delta'; partial_json: string }
        | { type: 'signature_delta'; signature: string }
        | { type: 'citations_delta' | 'compaction_delta' }
    }
  | { type: 'content_block_stop'; index: number }
  | { type: 'message_delta'; delta: { stop_reason: string | null } }
  | { type: 'message_stop' }

/** A piece of an answer. Only with `includePartialMessages`. */
export interface StreamEventMessage extends Message {
  type: 'stream_event'
  event: StreamEvent
  parent_tool_use_id: string | null
}

interface AnyResult extends Message {
  type: 'result'
  is_error: boolean
  duration_ms: number
  duration_api_ms: number
  num_turns: number
  stop_reason: string | null
  total_cost_usd: number
  usage: Usage
  modelUsage: Record<string, { inputTokens: number; outputTokens: number; costUSD: number }>
  permission_denials: { tool_name: string; tool_use_id: string; tool_input: Record<string, unknown> }[]
}

export interface SuccessMessage extends AnyResult {
  subtype: 'success'
  /** The text of the answer. */
  result: string
}

export interface ErrorMessage extends AnyResult {
  subtype:
    | 'error_during_execution'
    | 'error_max_turns'
    | 'error_max_budget_usd'
    | 'error_max_structured_output_retries'
  errors: string[]
  /** Only a success has one. */
  result?: undefined
}

export type ResultMessage = SuccessMessage | ErrorMessage

/** Whatever else the agent reports, such as rate limits. */
export interface OtherMessage extends Message {
  type:
    | 'rate_limit_event'
    | 'tool_progress'
    | 'auth_status'
    | 'tool_use_summary'
    | 'prompt_suggestion'
    | 'conversation_reset'
}

export type ProviderMessage =
  | SystemMessage
  | AssistantMessage
  | UserMessage
  | StreamEventMessage
  | ResultMessage
  | OtherMessage
