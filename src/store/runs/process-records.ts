/** An agent's OS process, as the store knows it. */
import type { ConversationId, MachineId, ProcessId, SessionId } from '../../contract/ids.ts'
import type { Binding } from '../../core/kept/binding.ts'
import type { RuntimeFacts } from '../../core/resume/runtime.ts'

/** Identifies the keeper of a process, so that another process with the same pid is not taken for it. */
export interface Keeper {
  pid: number
  startTicks: string
  bootId: string
}

export interface ProcessRecord {
  id: ProcessId
  /** The machine that holds it; null: it was started by a version that did not record it. */
  machineId: MachineId | null
  sessionId: SessionId
  agent: string
  runtime: RuntimeFacts | null
  /** The name of its folder in the spool folder. */
  spool: string
  /** The fence of the lease on the session. A daemon with an older fence has lost the process. */
  fence: number
  keeper: Keeper | null
  state: 'starting' | 'running' | 'kept' | 'gone'
  /** What it was started with; null: it ends with its turn. */
  binding: Binding | null
  startedAt: Date
  endedAt: Date | null
}

/** A process that waits for a turn. No run has it, and it holds the lease of its session. */
export interface KeptProcess extends ProcessRecord {
  binding: Binding
  kept: Kept
  /** The conversation whose turn it had last, or was started ahead for. */
  conversationId: ConversationId | null
}

export interface Kept {
  sinceMs: number
  untilMs: number
  /** The position in its spool up to which its output belongs to earlier attempts. */
  spoolOffset: number
  /** The size of the session's transcript when it had ended its turn; null: not known. */
  transcriptBytes: number | null
  /** It was started ahead of its first turn. */
  preStarted: boolean
  /**
   * How it is being ended; absent while it waits. It is stored before the process is told, so that no later daemon gives
   * a turn to a process that is about to leave.
   */
  leaving?: 'politely' | 'abruptly'
}
