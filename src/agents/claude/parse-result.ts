/**
 * Parses the `result` line. `total_cost_usd` and `modelUsage` are cumulative over the session;
 * `model_usage_since_last_result` has what this process spent since its last result. For CLIs without that field no
 * cost is reported, only tokens, so that a session's past is never counted twice.
 */
import type { EventOf } from '../../contract/events.ts'
import { NO_USAGE } from '../../contract/outcome.ts'
import { classifyResult } from './classify.ts'
import { isRecord, type Json, optionalInteger, optionalNumber, optionalString, readUsage } from './wire.ts'

export function parseResult(value: Json): EventOf<'turn-end'> {
  const models = readModels(value.model_usage_since_last_result)
  return {
    type: 'turn-end',
    outcome: classifyResult(value),
    ...optionalString('text', value.result),
    ...(value.structured_output === undefined ? {} : { structured: value.structured_output }),
    ...optionalInteger('turns', value.num_turns),
    ...optionalString('stopReason', value.stop_reason),
    ...(isCutOff(value.stop_reason) ? { cutOff: true } : {}),
    ...(isRecord(value.usage) ? { usage: { ...NO_USAGE, ...readUsage(value.usage) } } : {}),
    ...(models ? { models } : {}),
    ...(Array.isArray(value.permission_denials)
      ? { permissionDenials: value.permission_denials.length }
      : {}),
  }
}

const ENDED_BY_ITSELF: ReadonlySet<unknown> = new Set(['end_turn', 'stop_sequence'])

/** A command that the CLI executes itself has no stop reason. */
const isCutOff = (stopReason: unknown) => typeof stopReason === 'string' && !ENDED_BY_ITSELF.has(stopReason)

function readModels(byModel: unknown): EventOf<'turn-end'>['models'] | undefined {
  if (!isRecord(byModel)) return undefined
  return Object.entries(byModel).flatMap(([model, spent]) => {
    if (!isRecord(spent) || typeof spent.costUSD !== 'number') return []
    const usage = {
      ...NO_USAGE,
      ...optionalNumber('inputTokens', spent.inputTokens),
      ...optionalNumber('outputTokens', spent.outputTokens),
      ...optionalNumber('cacheReadTokens', spent.cacheReadInputTokens),
      ...optionalNumber('cacheWriteTokens', spent.cacheCreationInputTokens),
    }
    return [{ model, usage, costUsd: spent.costUSD, ...optionalNumber('contextWindow', spent.contextWindow) }]
  })
}
