/** Ends a process that waits for another turn: it is told to leave, and signals follow if it does not. */
import type { Addressee, AgentAdapter } from '../../agents/adapter.ts'
import type { LadderResult } from '../../process/ladder.ts'
import type { ProcessIdentity } from '../../process/proc.ts'
import type { Processes } from '../base/processes.ts'

export interface EndWaitingDeps {
  processes: Pick<Processes, 'folderOf' | 'deliver' | 'closeInput' | 'end'>
  settings: { termAfterMs: number; killAfterMs: number }
}

export interface WaitingProcess {
  spool: string
  keeper: ProcessIdentity
  adapter: AgentAdapter
  addressee: Addressee
}

export function endWaiting(
  { processes, settings }: EndWaitingDeps,
  { spool, keeper, adapter, addressee }: WaitingProcess,
): Promise<LadderResult> {
  const dir = processes.folderOf(spool)
  const { messages, closeInput } = adapter.farewell('done', addressee)
  const farewell = async () => {
    for (const message of messages) await processes.deliver(dir, message)
    if (closeInput) await processes.closeInput(dir)
  }
  return processes.end({
    attemptId: spool,
    keeper,
    // If the disk is full, signals end the process.
    farewell: () => farewell().catch(() => {}),
    farewellMs: settings.termAfterMs,
    termMs: settings.termAfterMs,
    killMs: settings.killAfterMs,
  })
}
