/** What is known about the files and the live processes of an agent's session. */
import type { TranscriptState } from '../contract/session.ts'
import type { OutsideTurn } from '../core/history/outside.ts'

export interface SessionFiles {
  transcript: string
  /** The folder with further files of the session, if there is one. */
  folder: string | null
  /** An agent in a sandbox can write in the folder of the transcript, so no link in it may be followed. */
  noLinks?: boolean
}

export interface TranscriptQuery {
  /**
   * The directory in which the session is to be continued: among several files with its id, the agent uses that
   * directory's.
   */
  workDir: string
  /** A message to look for in the transcript. */
  messageId?: string | null
  /** The newest question that was asked and answered in this session: a file without it is an older copy. */
  answeredId?: string | null
  /** The ids of all questions that we asked in this session. If given, turns that others asked are looked for. */
  ownIds?: ReadonlySet<string> | null
  /** Turns of others that are imported already and are not reported again. */
  knownIds?: ReadonlySet<string> | null
}

export interface TranscriptFacts {
  state: TranscriptState
  path: string | null
  bytes: number | null
  /** The transcript contains the message with the given id. */
  hasMessage: boolean
  /** Turns that others asked, oldest first. */
  outside: readonly OutsideTurn[]
}

export interface SessionHolder {
  pid: number
  /** When it was started, in clock ticks since boot. */
  startTicks: number
}

export interface Mended {
  keptAs: string
  removedBytes: number
}
