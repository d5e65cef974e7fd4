/** Sessions: the agent's own memory, as the store knows it. */
import type { SessionId } from '../../contract/ids.ts'
import type { Usage } from '../../contract/outcome.ts'
import type { SessionLifecycle } from '../../contract/session.ts'
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
  /** See core/session/lifecycle.ts. */
  state: SessionLifecycle
  /** Since when it is in this state; null: not recorded. */
  stateAt: Date | null
  /** Prompts that it took, and answers that it gave. */
  messages: number
  usage: Usage
  /** Why the model stopped last, in the agent's words, or the outcome of the last attempt if the agent gave none. */
  stopReason: string | null
  /** The model ended its last turn by itself. */
  finished: boolean
  archivedAt: Date | null
  /** A person had made it without Reprise. */
  adopted: boolean
}

/** A session that no attempt has ended in yet. */
export type NewSession = Omit<
  SessionRecord,
  'state' | 'stateAt' | 'messages' | 'usage' | 'stopReason' | 'finished' | 'archivedAt' | 'adopted'
>

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
  /** Absent: nothing is known about the end of the attempt, or it did not answer a prompt. */
  end?: SessionEnd
}

/** How an attempt ended in its session, and what it used. */
export interface SessionEnd extends Pick<SessionRecord, 'stopReason' | 'finished' | 'usage'> {
  /** The number of messages that it added. */
  messages: number
}
