/** Sessions that exist in the agent's own files, made by people without Reprise, and how they are read. */
import type { OutsideTurn } from '../core/history/outside.ts'

/** A file that may be a session. Only its name, size and time are known. */
export interface SessionFile {
  agentSessionId: string
  path: string
  bytes: number
  modifiedAt: Date
  /**
   * The id of the session whose private folder in a sandbox the file may be in; null: it is in no such folder. The agent in
   * that sandbox can write any file there, so what it contains is not evidence of what a person did.
   */
  privateTo: string | null
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

/** Older turns are left out. The newest one is always returned. */
export interface TurnLimits {
  turns: number
  chars: number
}

export interface ExistingSessions {
  /** Lists files without reading them. With `workDir`: only files that may belong to that directory. */
  find: (env: Readonly<Record<string, string>>, workDir: string | null) => Promise<SessionFile[]>
  /** Reads only the beginning and the end of the file, whatever its size. */
  peek: (file: SessionFile) => Promise<SessionPeek>
  /**
   * The turns of the session, oldest first. One turn at a time is in memory. With limits: only the newest ones that a
   * resumed session contains.
   */
  readTurns: (file: Pick<SessionFile, 'path'>, limits?: TurnLimits) => AsyncIterable<OutsideTurn>
}
