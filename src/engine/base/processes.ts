/**
 * What the engine needs of the machine's processes. The path and supervision start, feed, follow and end agents only
 * through this interface; the composition root hands in the implementation (process/host.ts). Another one may keep agents
 * in a sandbox, or in memory for a test.
 *
 * An attempt's process is described by its folder and its keeper: the folder holds what the agent is told and prints, the
 * keeper is the process that writes down how the agent ended. Both outlive the daemon that started them.
 */
import type { Message } from '../../agents/protocol.ts'
import type { AttemptDir, ProtocolSeed } from '../../process/attempt-dir.ts'
import type { LadderInput, LadderResult } from '../../process/ladder.ts'
import type { LaunchInput } from '../../process/launch.ts'
import type { MachineMemory } from '../../process/memory.ts'
import type { ProcessIdentity } from '../../process/proc.ts'
import type { TailEnd } from '../../process/tail.ts'

export interface Processes {
  folderOf: (attemptId: string) => AttemptDir
  /** Makes the folder with the first messages in it, and with what a reader of the output must know. */
  prepare: (dir: AttemptDir, messages: readonly Message[], seed?: ProtocolSeed | null) => void
  readSeed: (dir: AttemptDir) => ProtocolSeed
  /** Starts the agent. The folder must have been prepared. */
  launch: (input: LaunchInput) => Promise<ProcessIdentity>
  /** True if the agent was never started and now never will be. */
  revoke: (dir: AttemptDir) => Promise<boolean>

  /** The keeper that works for the attempt; null: it is gone. A keeper that has just been started is waited for. */
  findKeeper: (dir: AttemptDir, attemptId: string) => Promise<ProcessIdentity | null>
  /** The same, without waiting. */
  readKeeper: (dir: AttemptDir, attemptId: string) => Promise<ProcessIdentity | null>
  isAlive: (process: ProcessIdentity) => boolean
  /** The keeper is alive and works for the home of which this one is a copy. */
  isOfOther: (keeper: ProcessIdentity, dir: AttemptDir) => boolean
  /** The attempt that a process belongs to, of whichever daemon; null: none. */
  attemptOf: (pid: number) => string | null

  follow: (dir: AttemptDir, keeper: ProcessIdentity, offset: number) => Output
  /** How many bytes the agent has printed. */
  sizeOf: (dir: AttemptDir) => Promise<number>
  /** When the attempt last wrote something; null: never. */
  lastWriteOf: (dir: AttemptDir) => Promise<Date | null>
  readStderrTail: (dir: AttemptDir) => Promise<string>

  /** The agent gets the message even if this daemon dies now, and only once per id. */
  deliver: (dir: AttemptDir, message: Message) => Promise<void>
  /** Ends the agent's stdin once everything before has been fed to it. */
  closeInput: (dir: AttemptDir) => Promise<void>
  /** Whether a message with this id was delivered, or is about to be. */
  hasMessage: (dir: AttemptDir, id: string) => boolean
  /** Has messages fed that a daemon may have left undelivered when it died. */
  poke: (dir: AttemptDir) => void

  /** Ends everything of the attempt, politely first. */
  end: (input: LadderInput) => Promise<LadderResult>
  /** Kills what is left of the attempt. */
  endStrays: (attemptId: string, keeper: ProcessIdentity | null, killMs: number) => Promise<LadderResult>
  /** The memory that the agent and everything that it started use alone, and their share of what they share. */
  memoryOf: (attemptId: string, keeper: ProcessIdentity) => Promise<number>
  /** How much memory the machine has left. */
  readMemory: () => Promise<MachineMemory>
  /** False if one of them is still alive after this time. */
  goneWithin: (processes: readonly ProcessIdentity[], ms: number) => Promise<boolean>
}

/** What an agent prints, and its end. Nothing is read ahead. */
export interface Output {
  /** The next bytes, or null if there are none now. The buffer is the caller's to keep. */
  read: () => Promise<Buffer | null>
  /** The next bytes are those from here on. */
  seek: (offset: number) => void
  /** To be asked before a read that may then be the last: what is read after the end was seen is all there is. */
  end: () => Promise<TailEnd | null>
  /** Resolves when there may be something new, or after `maxMs` at the latest. */
  wait: (maxMs: number) => Promise<void>
  /** Look again now. */
  nudge: () => void
  close: () => Promise<void>
}

/** Stands for a keeper of which nothing can be found any more. */
export const GONE: ProcessIdentity = { pid: 0, startTicks: '', bootId: '' }
