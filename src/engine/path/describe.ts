/** The public descriptions of runs, attempts, questions and events. */
import type { RunEvent } from '../../contract/events.ts'
import type { PendingQuestion } from '../../contract/question.ts'
import type { Attempt, Run } from '../../contract/run.ts'
import type { AttemptRecord, PendingRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord, StoredEvent } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'

/** A rough estimate; an exact number would need the model's tokenizer. */
const tokensOf = (chars: number) => Math.round(chars / 4)

const iso = (at: Date | null) => at?.toISOString() ?? null

export function describeRun(
  run: RunRecord,
  session: SessionRecord | null,
  pending: readonly PendingRecord[],
): Run {
  const { state, spend, links } = run
  const endedAt = state.at === 'settled' ? state.endedAt : null
  return {
    id: run.id,
    agent: run.agent,
    model: run.model,
    workDir: run.workDir,
    prompt: run.prompt,
    permissions: run.request.permissions,
    state: state.at,
    outcome: state.at === 'settled' ? state.outcome.name : null,
    message: state.at === 'settled' ? state.outcome.message : state.at === 'queued' ? state.why : null,
    resultText: run.resultText,
    sessionId: session?.agentSessionId ?? null,
    session: run.sessionId,
    resumed: run.decision?.resumed ?? null,
    freshReason: run.decision?.freshReason ?? null,
    carry: run.decision?.carry ?? null,
    parentRunId: links.parentRunId,
    tier: links.tier,
    dryRun: run.request.dryRun === true,
    sandbox: run.sandbox,
    directorySettings: run.directorySettings,
    refusals: run.done.refusals,
    attemptCount: run.attemptCount,
    createdAt: run.createdAt.toISOString(),
    startedAt: iso(run.startedAt),
    endedAt: iso(endedAt),
    notBefore: state.at === 'queued' ? iso(state.notBefore) : null,
    paused: state.at === 'queued' && state.paused,
    durationMs: run.startedAt && endedAt ? endedAt.getTime() - run.startedAt.getTime() : null,
    usage: spend.usage,
    costUsd: spend.costUsd,
    costEstimated: spend.estimated,
    contextTokens: spend.contextTokens,
    contextWindow: spend.contextWindow,
    pending: pending.map(describeQuestion),
    promptTokens: run.sent && tokensOf(run.sent.promptChars),
    transcriptTokens: run.sent && tokensOf(run.sent.transcriptChars),
    leftOut: run.sent?.leftOut ?? null,
    conversationId: links.conversationId,
    turn: links.turn,
    jobId: links.jobId,
    cycleId: links.cycleId,
    followUpId: links.followUpId,
  }
}

export function describeQuestion({ ask, askHash, askedAt }: PendingRecord): PendingQuestion {
  const base = { toolUseId: ask.toolUseId, askHash, askedAt: askedAt.toISOString() }
  return ask.type === 'question-ask'
    ? { ...base, kind: 'question', questions: ask.questions }
    : { ...base, kind: 'permission', tool: ask.tool, input: ask.input }
}

export function describeAttempt(attempt: AttemptRecord): Attempt {
  return {
    id: attempt.id,
    number: attempt.number,
    state: attempt.state,
    agentSessionId: attempt.agentSessionId,
    resumed: attempt.resumed,
    freshReason: attempt.freshReason,
    carry: attempt.carry,
    agentVersion: attempt.runtime?.version ?? null,
    pid: attempt.process?.pid ?? null,
    exitCode: attempt.exitCode,
    outcome: attempt.outcome,
    costUsd: attempt.costUsd,
    contextTokens: attempt.contextTokens,
    contextWindow: attempt.contextWindow,
    cache: attempt.cacheUse,
    startedAt: attempt.startedAt.toISOString(),
    endedAt: iso(attempt.endedAt),
  }
}

export function describeEvent({ runId, seq, attemptId, at, body }: StoredEvent): RunEvent {
  return { runId, seq, attemptId, at: at.toISOString(), ...body }
}
