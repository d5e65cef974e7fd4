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
  /** What wrote it last; null if that is not known. */
  runtime: RuntimeFacts | null
  epoch: number
  /** The session whose history this one was started with. */
  continues: SessionId | null
  poison: { refused: boolean; message: string } | null
  /** The hash of the texts said once that it was told last; null: none yet. */
  told: string | null
  /** It has been compacted since: what was said once may be gone. */
  compacted: boolean
  /** What its last call left in the prompt cache; null: that is not known. */
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
  /** What it leaves in the prompt cache; null: as before. */
  cacheState?: CacheState | null
  /** The id the agent itself reported, where it is another one than we assigned. */
  agentSessionId: string | null
  turns: number
  /** What it has been told; null: as before. */
  told: Pick<SessionRecord, 'told' | 'compacted'> | null
  poison: SessionRecord['poison']
  contextTokens: number | null
  contextWindow: number | null
}
