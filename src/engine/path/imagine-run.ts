/** The run of a turn that nobody has asked for yet. It is not stored; the path can be asked how it would prepare it. */
import type { RetryTurn } from '../../contract/conversation.ts'
import { NO_USAGE } from '../../contract/outcome.ts'
import type { ConversationRecord } from '../../store/conversations/records.ts'
import type { NewRun, RunRecord } from '../../store/runs/records.ts'
import { buildRun } from './build-run.ts'
import { turnLimitsOf } from './turn-limits.ts'

export function imagineTurn(
  conversation: ConversationRecord,
  request: RetryTurn,
  defaults: Pick<NewRun['request'], 'permissions'> & { dryRun: boolean },
  at: Date,
): RunRecord {
  const run = buildRun({
    agent: request.agent ?? conversation.agent,
    model: request.model ?? null,
    workDir: conversation.workDir,
    prompt: '',
    request: {
      permissions: request.permissions ?? defaults.permissions,
      forceFreshSession: request.forceFreshSession ?? false,
      ...turnLimitsOf(request),
      ...(defaults.dryRun ? { dryRun: true } : {}),
      sandbox: request.sandbox,
    },
    sessionId: null,
    createdAt: at,
  })
  return {
    ...run,
    state: { at: 'queued', notBefore: null, why: null, paused: false },
    cancelRequested: false,
    decision: null,
    sandbox: null,
    directorySettings: null,
    attemptCount: 0,
    outdatedAttempts: 0,
    interruptions: 0,
    resumeCount: 0,
    resultText: null,
    sent: null,
    spend: { usage: NO_USAGE, costUsd: null, estimated: false, contextTokens: null, contextWindow: null },
    done: { modelCalls: 0, toolCalls: 0, refusals: 0 },
    priority: 0,
    place: null,
    links: {
      parentRunId: null,
      tier: null,
      conversationId: conversation.id,
      turn: conversation.turnCount + 1,
      jobId: null,
      cycleId: null,
      followUpId: null,
      budgetOf: null,
    },
    startedAt: null,
  }
}
