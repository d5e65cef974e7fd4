/**
 * Prompts that a process may be given after it has ended its turn, instead of being ended. Supervision asks for them
 * through this interface; follow-ups are what it is implemented with.
 */
import type { Addressee, AgentAdapter } from '../../agents/adapter.ts'
import type { EventBody, EventOf } from '../../contract/events.ts'
import type { AttemptDir } from '../../process/attempt-dir.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'

export interface HeldProcess {
  run: RunRecord
  attempt: AttemptRecord
  adapter: AgentAdapter
  dir: AttemptDir
}

/** null: the process may end. A time: it waits until then. `given`: it has a prompt to take. */
export type Held = Date | 'given' | null

/** Decides for one process whether it is kept after its turn. */
export interface Hold {
  /** Something was planned or cancelled: the next look asks the store. */
  notePlanned: () => void
  look: (end: EventOf<'turn-end'> | null) => Promise<Held>
}

/** Reprise does the work of a tool itself: what the agent reads, and what is stored. */
export interface TakenOver {
  message: string
  event: EventBody
  /** The run has a further prompt that it did not have before. */
  planned: boolean
}

export interface NextPrompts {
  /** The run with the prompt that it was given last, in place of its own. */
  current: (run: RunRecord) => Promise<RunRecord>
  /** The task that the prompt of a run belongs to; null: the prompt is the task. */
  taskOf: (run: RunRecord) => Promise<string | null>
  hold: (process: HeldProcess & { addressee: Addressee }) => Hold
  /** The agent has taken the prompts with these message ids. */
  noteTaken: (attempt: Pick<AttemptRecord, 'id' | 'runId'>, messageIds: ReadonlySet<string>) => Promise<void>
  /** null: the tool is not one that Reprise takes over. */
  takeOver: (process: HeldProcess, ask: EventOf<'permission-ask'>) => (() => Promise<TakenOver>) | null
}
