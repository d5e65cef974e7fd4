/** Parses what the CLI reports about itself: sessions, requests and retries, sub-agents, compaction, limits. */
import type { EventBody } from '../../contract/events.ts'
import { whyRetried } from './classify.ts'
import { isRecord, type Json, optionalInteger, optionalNumber, optionalString, readInstant } from './wire.ts'

export function parseSystem(value: Json): EventBody[] | undefined {
  if (value.subtype === 'init' && typeof value.session_id === 'string') {
    const tools = Array.isArray(value.tools)
      ? value.tools.filter((tool) => typeof tool === 'string')
      : undefined
    return [
      {
        type: 'session-start',
        agentSessionId: value.session_id,
        ...optionalString('model', value.model),
        ...optionalString('version', value.claude_code_version),
        ...(tools ? { tools } : {}),
      },
    ]
  }
  if (value.subtype === 'status' && value.status === 'requesting') return [{ type: 'model-request' }]
  if (value.subtype === 'api_retry' && Number.isSafeInteger(value.attempt)) {
    return [
      {
        type: 'retry-wait',
        number: Number(value.attempt),
        ...optionalInteger('maxRetries', value.max_retries),
        ...optionalNumber('delayMs', value.retry_delay_ms),
        ...optionalInteger('apiStatus', value.error_status),
        ...whyRetried(value.error_status),
        // For a request without an answer, the CLI reports only "unknown".
        ...optionalString('message', value.error === 'unknown' ? undefined : value.error),
      },
    ]
  }
  if (value.subtype === 'background_tasks_changed' && Array.isArray(value.tasks)) {
    // Only sub-agents are waited for: a background shell, for example a server, may run for ever.
    const agents = value.tasks.filter((task) => isRecord(task) && task.task_type === 'local_agent')
    const others = value.tasks.length - agents.length
    return [{ type: 'background', tasks: agents.length, ...(others > 0 ? { others } : {}) }]
  }
  if (value.subtype === 'compact_boundary') {
    const meta = isRecord(value.compact_metadata) ? value.compact_metadata : value
    return [
      {
        type: 'compaction',
        ...optionalNumber('preTokens', meta.pre_tokens),
        ...optionalNumber('postTokens', meta.post_tokens),
      },
    ]
  }
  return undefined
}

export function parseRateLimit(value: Json): EventBody[] | undefined {
  const info = isRecord(value.rate_limit_info) ? value.rate_limit_info : value
  const resetsAt = readInstant(info.resetsAt ?? info.resets_at)
  if (typeof info.status !== 'string') return undefined
  const limit = typeof info.rateLimitType === 'string' ? info.rateLimitType : undefined
  const windows = isRecord(info.unifiedWindows)
    ? Object.entries(info.unifiedWindows).flatMap(([name, window]) => readWindow(name, window))
    : []
  return [
    {
      type: 'rate-limit',
      status: info.status,
      ...(resetsAt ? { resetsAt } : {}),
      ...(limit ? { limit, scope: MODEL_LIMIT.test(limit) ? ('model' as const) : ('account' as const) } : {}),
      ...(windows.length > 0 ? { windows } : {}),
    },
  ]
}

/** `five_hour` and `seven_day` are limits of the account; `seven_day_opus` concerns one model. */
const MODEL_LIMIT = /_(opus|sonnet|haiku)$/

function readWindow(name: string, window: unknown): { name: string; used: number; resetsAt?: string }[] {
  if (!isRecord(window) || typeof window.utilization !== 'number') return []
  const resetsAt = readInstant(window.resetsAt)
  return [{ name, used: window.utilization, ...(resetsAt ? { resetsAt } : {}) }]
}
