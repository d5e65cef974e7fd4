/**
 * A transaction, and what features do in it when a run changes.
 *
 * `runs` knows no feature. It is given two things instead, both executed in the transaction that changes the run, so
 * that a change and its consequences are stored together or not at all:
 * - listeners, which the composition of the store lists once (store.ts) and which are called for every change;
 * - effects, which the caller passes with one change. The stores of the features make them; to the caller they are
 *   opaque.
 * A listener or an effect that throws undoes the change.
 */
import type { Transaction } from 'kysely'
import type { ConversationId, CycleId, JobId, RunId } from '../../contract/ids.ts'
import type { OutcomeName } from '../../contract/outcome.ts'
import type { Redactor } from '../../core/redact/redactor.ts'
import type { Tables } from './schema.ts'

/** Text that others will read must be redacted with `redactor` before it is written. */
export type Tx = Transaction<Tables> & {
  readonly redactor: Redactor
  readonly listeners: readonly RunListener[]
}

export type Write = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/** A run after a change of its state or of the time until which it waits. */
export interface RunChange {
  id: RunId
  state: 'queued' | 'running' | 'settled'
  /** Set only for queued runs: the run waits until then. */
  notBefore: Date | null
  paused: boolean
  /** Set only for settled runs. */
  outcome: OutcomeName | null
  jobId: JobId | null
  conversationId: ConversationId | null
  at: Date
}

export type RunEffect = (tx: Tx, run: RunChange) => Promise<void>

/** Selects the planned follow-ups of one run, or of all runs of a chain. */
export type PlansOf = { runId: RunId } | { rootRunId: RunId }

export interface PlansEnd {
  state: 'cancelled' | 'missed'
  by: 'agent' | 'person' | null
  message: string | null
}

export interface RunListener {
  changed?: (tx: Tx, run: RunChange) => Promise<void>
  /** The run is delayed by this much more than was known before; negative: by less. */
  delayed?: (tx: Tx, id: RunId, byMs: number) => Promise<void>
  /** A person wants the run that is held by this key to be tried now. */
  hastened?: (tx: Tx, heldBy: string, at: Date) => Promise<void>
  /** Why a run need not wait behind this key any more; null: it must wait, or the key belongs to another listener. */
  whyReleased?: (tx: Tx, heldBy: string) => Promise<string | null>
  /** Planned follow-ups of a run or a chain must not be carried out any more. */
  plansEnded?: (tx: Tx, of: PlansOf, end: PlansEnd, at: Date) => Promise<void>
  /** Whether nothing may be planned in this cycle any more. */
  isOver?: (tx: Tx, cycleId: CycleId) => Promise<boolean>
}
