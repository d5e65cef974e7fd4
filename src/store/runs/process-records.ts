/** An agent's OS process, as the store knows it. */
import type { MachineId, ProcessId, SessionId } from '../../contract/ids.ts'
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
  state: 'starting' | 'running' | 'gone'
  startedAt: Date
  endedAt: Date | null
}
