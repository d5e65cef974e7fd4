/** The store interface of processes and their attempts. */
import type { Kysely } from 'kysely'
import type { EventBody } from '../../contract/events.ts'
import type { MachineId, RunId, SessionId } from '../../contract/ids.ts'
import { NotNow } from '../base/errors.ts'
import type { Tables } from '../base/schema.ts'
import type { GroupWriter } from '../base/writer.ts'
import type { AttemptEnding, AttemptRecord } from './attempt-records.ts'
import * as attempts from './attempts.ts'
import { endAttempt } from './end-attempt.ts'
import type { EventBatch } from './event-batch.ts'
import type { NewKept } from './kept-processes.ts'
import * as kept from './kept-processes.ts'
import * as prices from './price-attempt.ts'
import type { Keeper, Kept, KeptProcess } from './process-records.ts'
import type { OpenProcess } from './processes.ts'
import * as processes from './processes.ts'
import { type StartInput, startAttempt } from './start-attempt.ts'

export interface AttemptStore {
  /**
   * null: the attempt must not start, because the run is not queued any more, its session is leased, or an effect
   * refused it.
   */
  startAttempt: (input: StartInput) => Promise<AttemptRecord | null>
  markLaunched: (attempt: AttemptRecord, keeper: Keeper) => Promise<void>
  /** Commits queued work at once instead of waiting for the window. */
  hurry: () => void
  advanceAttempt: (
    attempt: AttemptRecord,
    events: EventBatch,
    spoolOffset: number,
    at: Date,
    options?: { urgent?: boolean; heldFrom?: number | null },
  ) => Promise<number>
  /** Stores how long the attempt has worked and waited, in watched time. */
  noteWatched: (
    attempt: Pick<AttemptRecord, 'id' | 'fence'>,
    watched: AttemptRecord['watched'],
  ) => Promise<void>
  /** Adds events that did not come from the agent's output. */
  addEvents: (attempt: AttemptRecord, events: readonly EventBody[], at: Date) => Promise<void>
  setStopCause: (attempt: AttemptRecord, cause: string, message: string, at: Date) => Promise<boolean>
  /** Returns the process of the attempt, if it is kept. */
  endAttempt: (ending: AttemptEnding) => Promise<KeptProcess | null>
  /** Attempts that have ended without a price. */
  listUnpriced: () => Promise<AttemptRecord[]>
  /** Sets the price of an attempt; changes nothing if it has one. */
  priceAttempt: (attempt: AttemptRecord, costUsd: number) => Promise<void>
  /** Processes that this machine's daemon left running when it ended. Recovery starts from these. */
  listOpenProcesses: () => Promise<OpenProcess[]>
  takeOver: (attempt: AttemptRecord, at: Date) => Promise<AttemptRecord>
  listAttempts: (runId: RunId) => Promise<AttemptRecord[]>
  /** The process that is kept for the session, or is about to be started for it. */
  findKept: (sessionId: SessionId) => Promise<KeptProcess | null>
  /** null: the session is in use. */
  startKept: (process: NewKept) => Promise<KeptProcess | null>
  markKept: (process: KeptProcess, keeper: Keeper) => Promise<KeptProcess>
  takeOverKept: (process: Pick<KeptProcess, 'id' | 'sessionId' | 'fence'>, at: Date) => Promise<KeptProcess>
  /** Stored before the process is told to leave. */
  leaveKept: (process: KeptProcess, how: NonNullable<Kept['leaving']>) => Promise<KeptProcess>
  endKept: (process: KeptProcess, at: Date) => Promise<void>
  /** When the process with this folder ended. null: it has not ended, or is not known. */
  findSpoolEnd: (spool: string) => Promise<Date | null>
  /** Whether a process with this folder is known. */
  hasSpool: (spool: string) => Promise<boolean>
}

/** Streamed events may wait for the window; these may not, because somebody acts on them. */
const AWAITED: ReadonlySet<EventBody['type']> = new Set(['question-ask', 'permission-ask', 'tool-end'])
const LARGE_BATCH = 500
/**
 * Output is read again from the spool if its events were lost in a power cut. But a tool may have acted on the world by
 * then, and a question may have been passed on, so events of these types are flushed to disk.
 */
const FLUSHED: ReadonlySet<EventBody['type']> = new Set([...AWAITED, 'tool-start', 'reminder-ask'])

/** null: it cannot be done now. */
const orNull = (error: unknown): null => {
  if (error instanceof NotNow) return null
  throw error
}

export function createAttemptStore(
  reader: Kysely<Tables>,
  group: GroupWriter,
  machineId: MachineId | null,
): AttemptStore {
  const { write, writeUnflushed } = group
  return {
    startAttempt: (input) => write((tx) => startAttempt(tx, input, machineId)).catch(orNull),
    // The folder of the process has it too.
    markLaunched: (attempt, keeper) => writeUnflushed((tx) => processes.markLaunched(tx, attempt, keeper)),
    hurry: () => group.hurry(),
    advanceAttempt: (attempt, batch, offset, at, { urgent = false, heldFrom = null } = {}) =>
      group.enqueue((tx) => attempts.advanceAttempt(tx, attempt, batch, offset, heldFrom, at), {
        urgent: urgent || batch.size >= LARGE_BATCH || batch.actedOn.some((event) => AWAITED.has(event.type)),
        durable: batch.types.some((type) => FLUSHED.has(type)),
      }),
    noteWatched: (attempt, watched) => write((tx) => attempts.noteWatched(tx, attempt, watched)),
    addEvents: (attempt, events, at) => write((tx) => attempts.addEvents(tx, attempt, events, at)),
    setStopCause: (attempt, cause, message, at) =>
      write((tx) => attempts.setStopCause(tx, attempt, cause, message, at)),
    endAttempt: (ending) => write((tx) => endAttempt(tx, ending)),
    listUnpriced: () => prices.listUnpriced(reader),
    priceAttempt: (attempt, costUsd) => write((tx) => prices.priceAttempt(tx, attempt, costUsd)),
    listOpenProcesses: () => processes.listOpenProcesses(reader, machineId),
    takeOver: (attempt, at) => write((tx) => processes.takeOver(tx, attempt, machineId, at)),
    listAttempts: (runId) => attempts.listAttempts(reader, runId),
    findKept: (sessionId) => kept.findKept(reader, sessionId),
    startKept: (process) => write((tx) => kept.startKept(tx, process, machineId)).catch(orNull),
    markKept: (process, keeper) => write((tx) => kept.markKept(tx, process, keeper)),
    takeOverKept: (process, at) => write((tx) => kept.takeOverKept(tx, process, machineId, at)),
    leaveKept: (process, how) => write((tx) => kept.leaveKept(tx, process, how)),
    endKept: (process, at) => write((tx) => kept.endKept(tx, process, at)),
    findSpoolEnd: async (spool) => (await processes.findSpool(reader, spool))?.endedAt ?? null,
    hasSpool: async (spool) => (await processes.findSpool(reader, spool)) !== null,
  }
}
