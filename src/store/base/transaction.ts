/**
 * A transaction, and what features do in it when something happens to a run.
 *
 * `runs` knows no feature. Two things are handed to it instead, both carried out in the transaction that changes the run,
 * so that a change and what follows from it are stored together or not at all:
 * - listeners, which the composition of the store lists once (store.ts) and which hear of every change;
 * - effects, which the caller of one change brings along, made by the stores of the features. To the caller an effect is
 *   opaque.
 * A listener or an effect that throws undoes the change.
 */
import type { Transaction } from 'kysely'
import type { ConversationId, CycleId, JobId, RunId } from '../../contract/ids.ts'
import type { OutcomeName } from '../../contract/outcome.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { Tables } from './schema.ts'

/** What is written in it for others to read goes through the redactor first. */
export type Tx = Transaction<Tables> & {
  readonly redactor: Redactor
  readonly listeners: readonly RunListener[]
}

export type Write = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/** A run as it is after a change of its state, or of the time until which it waits. */
export interface RunChange {
  id: RunId
  state: 'queued' | 'running' | 'settled'
  /** Set only for queued runs: it waits until then. */
  notBefore: Date | null
  paused: boolean
  /** Set only for settled runs. */
  outcome: OutcomeName | null
  jobId: JobId | null
  conversationId: ConversationId | null
  at: Date
}

export type RunEffect = (tx: Tx, run: RunChange) => Promise<void>

/** Whose planned follow-ups are meant: those of one run, or of all runs of a chain. */
export type PlansOf = { runId: RunId } | { rootRunId: RunId }

export interface PlansEnd {
  state: 'cancelled' | 'missed'
  by: 'agent' | 'person' | null
  message: string | null
}

export interface RunListener {
  changed?: (tx: Tx, run: RunChange) => Promise<void>
  /** The run cannot work for so much longer than was known before; negative: for less. */
  delayed?: (tx: Tx, id: RunId, byMs: number) => Promise<void>
  /** A person wants a run tried now that is held by this key. */
  hastened?: (tx: Tx, heldBy: string, at: Date) => Promise<void>
  /** Why a run need not wait behind this key any more; null: it must, or the key belongs to another listener. */
  whyReleased?: (tx: Tx, heldBy: string) => Promise<string | null>
  /** Nothing is to follow any more from a run or a chain. */
  plansEnded?: (tx: Tx, of: PlansOf, end: PlansEnd, at: Date) => Promise<void>
  /** Whether nothing may be planned in this cycle any more. */
  isOver?: (tx: Tx, cycleId: CycleId) => Promise<boolean>
}
