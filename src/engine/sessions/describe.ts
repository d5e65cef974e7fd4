/** The public description of a session. */
import type { Session, SessionDetail } from '../../contract/session.ts'
import type { SessionOrigin } from '../../store/conversations/copies.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'

export function describeOrigin(origin: SessionOrigin | null): SessionDetail['origin'] {
  if (origin === null) return null
  const { sessionId: session, createdAt, ...rest } = origin
  return { ...rest, session, createdAt: createdAt.toISOString() }
}

export interface SessionAges {
  idleMs: number
  maxAgeMs: number
}

export function describeSession(session: SessionRecord, ages: SessionAges, now: Date): Session {
  return {
    id: session.id,
    agent: session.agent,
    agentSessionId: session.agentSessionId,
    workDir: session.workDir,
    runtimeId: session.runtimeId,
    agentVersion: session.runtime?.version ?? null,
    state: sessionState(session, ages, now),
    poison: session.poison?.message ?? null,
    turns: session.turns,
    resumes: session.resumes,
    contextTokens: session.contextTokens,
    contextWindow: session.contextWindow,
    costUsd: session.costUsd,
    createdAt: session.createdAt.toISOString(),
    lastUsedAt: session.lastUsedAt.toISOString(),
  }
}

/** Computed from the stored session and the time, so no background work is needed for a session to expire. */
function sessionState(
  session: SessionRecord,
  { idleMs, maxAgeMs }: SessionAges,
  now: Date,
): Session['state'] {
  if (session.poison) return 'poisoned'
  const age = now.getTime() - session.lastUsedAt.getTime()
  if (age > maxAgeMs) return 'expired'
  if (session.turns === 0) return 'created'
  return age > idleMs ? 'paused' : 'active'
}
