/** Sessions: the agent's own memory, as the store knows it. */
import type { SessionId } from '../../contract/ids.ts'
import type { CacheState } from '../../core/cost/cache.ts'
import type { RuntimeFacts } from '../../core/resume/runtime.ts'

export interface SessionRecord {
  id: SessionId
  agent: string
  agentSessionId: string
  workDir: string
  workDirId: string | null
  runtimeId: string
  /** The runtime that last wrote it; null if that is not known. */
  runtime: RuntimeFacts | null
  epoch: number
  /** The session whose history this one was started with. */
  continues: SessionId | null
  poison: { refused: boolean; message: string } | null
  /** The hash of the one-time texts that it was given last; null: none yet. */
  told: string | null
  /** The session has been compacted since: the one-time texts may be missing. */
  compacted: boolean
  /** What its last call left in the prompt cache; null: not known. */
  cacheState: CacheState | null
  turns: number
  resumes: number
  contextTokens: number | null
  contextWindow: number | null
  costUsd: number
  createdAt: Date
  lastUsedAt: Date
}

/** What an ended attempt changes about its session. */
export interface SessionUpdate {
  /** What the attempt leaves in the prompt cache; null: unchanged. */
  cacheState?: CacheState | null
  /** The id that the agent reported, if it differs from the one we assigned. */
  agentSessionId: string | null
  turns: number
  /** The one-time texts that it has been given; null: unchanged. */
  told: Pick<SessionRecord, 'told' | 'compacted'> | null
  poison: SessionRecord['poison']
  contextTokens: number | null
  contextWindow: number | null
}
