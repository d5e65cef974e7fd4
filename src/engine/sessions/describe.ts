/** The public description of a session. */
import type { Session, SessionDetail, SessionRun } from '../../contract/session.ts'
import type { SessionOrigin } from '../../store/conversations/copies.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'

export function describeCopy(origin: SessionOrigin | null): SessionDetail['copiedFrom'] {
  if (origin === null) return null
  const { sessionId: session, createdAt, ...rest } = origin
  return { ...rest, session, createdAt: createdAt.toISOString() }
}

export function describeSession(
  session: SessionRecord,
  { maxAgeMs }: { maxAgeMs: number },
  title: string | undefined,
): Session {
  const { contextTokens, contextWindow } = session
  const state = session.poison ? 'poisoned' : session.state
  return {
    id: session.id,
    agent: session.agent,
    agentSessionId: session.agentSessionId,
    workDir: session.workDir,
    runtimeId: session.runtimeId,
    agentVersion: session.runtime?.version ?? null,
    state,
    status: state,
    stateSince: session.stateAt?.toISOString() ?? null,
    origin: session.adopted ? 'adopted' : 'reprise',
    poison: session.poison?.message ?? null,
    turns: session.turns,
    messages: session.messages,
    resumes: session.resumes,
    usage: session.usage,
    stopReason: session.stopReason,
    contextTokens,
    contextWindow,
    contextFill: contextTokens === null || !contextWindow ? null : contextTokens / contextWindow,
    costUsd: session.costUsd,
    createdAt: session.createdAt.toISOString(),
    lastUsedAt: session.lastUsedAt.toISOString(),
    resumableUntil: new Date(session.lastUsedAt.getTime() + maxAgeMs).toISOString(),
    archivedAt: session.archivedAt?.toISOString() ?? null,
    title: title ?? null,
  }
}

const PROMPT_CHARS = 200

export function describeSessionRun(run: RunRecord): SessionRun {
  return {
    id: run.id,
    prompt: run.prompt.slice(0, PROMPT_CHARS),
    state: run.state.at,
    outcome: run.state.at === 'settled' ? run.state.outcome.name : null,
    jobId: run.links.jobId,
    conversationId: run.links.conversationId,
    contextTokens: run.spend.contextTokens,
    contextWindow: run.spend.contextWindow,
    costUsd: run.spend.costUsd,
    createdAt: run.createdAt.toISOString(),
    endedAt: run.state.at === 'settled' ? run.state.endedAt.toISOString() : null,
  }
}
