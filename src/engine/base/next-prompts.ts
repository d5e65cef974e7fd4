/**
 * Prompts that a process may receive after its first one: after it has ended its turn, instead of being stopped, or in the
 * middle of it. Supervision asks for them through this interface; follow-ups and messages implement it.
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

/** null: the process may end. A time: the process waits until then. `given`: the process was sent a prompt. */
export type Held = Date | 'given' | null

/** Decides whether one process is kept after its turn. */
export interface Hold {
  /** A follow-up was planned or cancelled, or a message was stored, so the next look reads the store. */
  notePlanned: () => void
  /** Gives the process what it may receive in the middle of its turn. */
  give: () => Promise<void>
  /** The supervision calls this when the turn has ended. */
  look: (end: EventOf<'turn-end'> | null) => Promise<Held>
}

/** The result of a tool call that Reprise handles itself: the answer for the agent, and the event to store. */
export interface TakenOver {
  message: string
  event: EventBody
  /** The call planned a new prompt for the run. */
  planned: boolean
}

export interface NextPrompts {
  /** The run, with the prompt that it received last in place of its own. */
  current: (run: RunRecord) => Promise<RunRecord>
  /** The task that the prompt of a run belongs to; null if the prompt itself is the task. */
  taskOf: (run: RunRecord) => Promise<string | null>
  hold: (process: HeldProcess & { addressee: Addressee }) => Hold
  /** Records that the agent has accepted the prompts with these message ids. May be repeated. */
  noteTaken: (
    attempt: Pick<AttemptRecord, 'id' | 'runId' | 'sessionId'>,
    messageIds: ReadonlySet<string>,
  ) => Promise<void>
  /** null: Reprise does not handle this tool itself. */
  takeOver: (process: HeldProcess, ask: EventOf<'permission-ask'>) => (() => Promise<TakenOver>) | null
}
