/** The result of a query whose agent printed none: it crashed, or was stopped. */
import { randomUUID } from 'node:crypto'
import type { Outcome } from '../contract/outcome.ts'
import type { Run } from '../contract/run.ts'
import type { ResultMessage } from './message.ts'

export function resultOf(run: Run, outcome: Outcome): ResultMessage {
  const { usage } = run
  return {
    type: 'result',
    subtype: 'error_during_execution',
    is_error: true,
    duration_ms: run.durationMs ?? 0,
    duration_api_ms: 0,
    num_turns: 0,
    stop_reason: null,
    session_id: run.sessionId ?? '',
    total_cost_usd: run.costUsd ?? 0,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_read_input_tokens: usage.cacheReadTokens,
      cache_creation_input_tokens: usage.cacheWriteTokens,
    },
    modelUsage: {},
    permission_denials: [],
    errors: [outcome.message],
    terminal_reason: outcome.name,
    uuid: randomUUID(),
  }
}
