/** An agent's OS process, as the store knows it. */
import type { MachineId, ProcessId, SessionId } from '../../contract/ids.ts'
import type { RuntimeFacts } from '../../core/resume/runtime.ts'

/** The keeper of a process, so that another process with the same pid is not taken for it. */
export interface Keeper {
  pid: number
  startTicks: string
  bootId: string
}

export interface ProcessRecord {
  id: ProcessId
  /** The machine that holds it; null: it was started by a version that did not note it. */
  machineId: MachineId | null
  sessionId: SessionId
  agent: string
  runtime: RuntimeFacts | null
  /** The folder of its output, in the folder of all spools. */
  spool: string
  /** Of the lease on the session. Whoever holds an older one has lost the process. */
  fence: number
  keeper: Keeper | null
  state: 'starting' | 'running' | 'gone'
  startedAt: Date
  endedAt: Date | null
}
