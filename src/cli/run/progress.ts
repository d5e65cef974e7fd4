/** The progress of a run, computed from its events one at a time, and formatted as a line. */
import type { EventOf, RunEvent } from '../../contract/events.ts'
import type { JobProgress } from '../../contract/job.ts'
import { count, formatCost, formatElapsed, formatTokens } from '../terminal/amounts.ts'
import { toolLine } from './tool-line.ts'

type CallUsage = EventOf<'model-call'>['usage']

export interface Progress {
  startedAt: number | null
  /** Calls to the model, those of sub-agents included. */
  turns: number
  toolCalls: number
  /** Tokens of all finished turns; those of the current turn are in `calls`. */
  tokens: number
  costUsd: number | null
  calls: ReadonlyMap<string, CallUsage>
  /** Running tools by the id of their call, newest last. */
  tools: ReadonlyMap<string, string>
}

export type Before = Pick<JobProgress, 'modelCalls' | 'toolCalls' | 'tokens' | 'costUsd'>

/** Starts from the counts of earlier attempts. */
export function startProgress(before?: Before): Progress {
  return {
    startedAt: null,
    turns: before?.modelCalls ?? 0,
    toolCalls: before?.toolCalls ?? 0,
    tokens: before?.tokens ?? 0,
    // Null, not 0: the cost is not known before the agent reports it at the end of a turn.
    costUsd: before?.costUsd || null,
    calls: new Map(),
    tools: new Map(),
  }
}

/** Returns the same object if the event changes nothing. */
export function advance(progress: Progress, event: RunEvent): Progress {
  if (progress.startedAt === null) {
    return advance({ ...progress, startedAt: Date.parse(event.at) }, event)
  }
  switch (event.type) {
    case 'model-call': {
      const earlier = progress.calls.get(event.messageId)
      const calls = new Map(progress.calls).set(event.messageId, { ...earlier, ...event.usage })
      return { ...progress, calls, turns: progress.turns + (earlier ? 0 : 1) }
    }
    case 'tool-start': {
      const tools = new Map(progress.tools).set(event.toolUseId, toolLine(event.name, event.input))
      return { ...progress, tools, toolCalls: progress.toolCalls + 1 }
    }
    case 'tool-end': {
      if (!progress.tools.has(event.toolUseId)) return progress
      const tools = new Map(progress.tools)
      tools.delete(event.toolUseId)
      return { ...progress, tools }
    }
    case 'turn-end': {
      const { models, usage } = event
      const reported = models?.map((spend) => spend.usage) ?? (usage ? [usage] : null)
      // The report includes calls that are not events, but leaves out calls that were cut off.
      const tokens = Math.max(sum(reported ?? []), sum(progress.calls.values()))
      const spent = models?.reduce((total, { costUsd }) => total + costUsd, 0)
      const costUsd = spent === undefined ? progress.costUsd : (progress.costUsd ?? 0) + spent
      return { ...progress, costUsd, tokens: progress.tokens + tokens, calls: new Map(), tools: new Map() }
    }
    case 'attempt-end':
      return progress.tools.size === 0 ? progress : { ...progress, tools: new Map() }
    default:
      return progress
  }
}

export function formatProgress(progress: Progress, now: Date): string {
  const { turns, toolCalls, costUsd, startedAt, tools } = progress
  const parts = [
    count(turns, 'turn'),
    count(toolCalls, 'tool call'),
    `${formatTokens(progress.tokens + sum(progress.calls.values()))} tokens`,
    ...(costUsd === null ? [] : [formatCost(costUsd)]),
    formatElapsed(startedAt === null ? 0 : Math.max(0, now.getTime() - startedAt)),
  ]
  const tool = [...tools.values()].at(-1)
  return [...parts, ...(tool === undefined ? [] : [tool])].join(' · ')
}

function sum(usages: Iterable<CallUsage>): number {
  let total = 0
  for (const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } of usages) {
    total += inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens
  }
  return total
}
