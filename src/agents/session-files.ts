/** What is known about the files and the live processes of an agent's session. */
import type { TranscriptState } from '../contract/session.ts'
import type { OutsideTurn } from '../core/history/outside.ts'

export interface SessionFiles {
  transcript: string
  /** What belongs to the session beside its transcript, if anything. */
  folder: string | null
}

export interface TranscriptQuery {
  /** Where the session is to go on: of several files with its id, the agent takes that directory's. */
  workDir: string
  /** Is this message in it? */
  messageId?: string | null
  /** A question that was asked and answered in this session, the newest one: without it the file is an older one. */
  answeredId?: string | null
  /** The ids of all questions we asked in this session. Given, what others asked in it is looked for. */
  ownIds?: ReadonlySet<string> | null
}

export interface TranscriptFacts {
  state: TranscriptState
  path: string | null
  bytes: number | null
  /** The message with the given id is in it. */
  hasMessage: boolean
  /** What others asked in it, oldest first. */
  outside: readonly OutsideTurn[]
}

export interface SessionHolder {
  pid: number
  /** When it was started, in clock ticks after boot. */
  startTicks: number
}

export interface Mended {
  keptAs: string
  removedBytes: number
}
