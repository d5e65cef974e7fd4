/** Sessions that exist in the agent's own files, made by people without Reprise, and how they are read. */
import type { OutsideTurn } from '../core/history/outside.ts'

/** A file that may be a session. Only its name, size and time are known. */
export interface SessionFile {
  agentSessionId: string
  path: string
  bytes: number
  modifiedAt: Date
}

/**
 * empty: nothing was said in it · damaged: it contains no readable record · sub-agent: it belongs to a sub-agent of
 * another session · summary-only: only a summary of another session is left.
 */
export type SessionFileProblem = 'empty' | 'damaged' | 'sub-agent' | 'summary-only'

/** The facts that the beginning and the end of a session's file tell. */
export interface SessionPeek {
  /** null: it can be adopted, as far as its beginning and end show. */
  problem: SessionFileProblem | null
  workDir: string | null
  firstPrompt: string | null
  startedAt: Date | null
  /** The version of the agent that wrote to it last. */
  version: string | null
  contextTokens: number | null
  stopReason: string | null
}

export interface ExistingSessions {
  /** Lists files without reading them. With `workDir`: only files that may belong to that directory. */
  find: (env: Readonly<Record<string, string>>, workDir: string | null) => Promise<SessionFile[]>
  /** Reads only the beginning and the end of the file, whatever its size. */
  peek: (file: SessionFile) => Promise<SessionPeek>
  /** The turns of the session, oldest first. One turn at a time is in memory. */
  readTurns: (file: SessionFile) => AsyncIterable<OutsideTurn>
}
