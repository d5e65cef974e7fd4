import { SessionId } from '../../contract/ids.ts'
import type { NewSession } from './session-records.ts'

/** Where a session is and who uses it: the part of its record that nothing can be assumed about. */
type Known = Pick<NewSession, 'agent' | 'agentSessionId' | 'workDir' | 'workDirId' | 'runtimeId' | 'runtime'>

/** The record of a session that nothing else is known about yet than what is given. */
export function recordSession(known: Known & Partial<NewSession>, now: Date): NewSession {
  return {
    id: SessionId.create(now),
    epoch: 0,
    continues: null,
    poison: null,
    cacheState: null,
    told: null,
    compacted: false,
    turns: 0,
    resumes: 0,
    contextTokens: null,
    contextWindow: null,
    costUsd: 0,
    createdAt: now,
    lastUsedAt: now,
    ...known,
  }
}
