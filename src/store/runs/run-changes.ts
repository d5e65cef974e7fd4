/** Notifies the listeners of the transaction of changes to a run; see base/transaction.ts. */
import type { RunId } from '../../contract/ids.ts'
import type { OutcomeName } from '../../contract/outcome.ts'
import { date } from '../base/columns.ts'
import type { PlansEnd, PlansOf, RunChange, RunEffect, Tx } from '../base/transaction.ts'
import { isPaused } from './rows.ts'
import type { RunsTable } from './schema.ts'

/** The columns that a statement that changes a run returns, so that the change can be announced. */
export const CHANGE_COLUMNS = [
  'id',
  'state',
  'not_before',
  'outcome_name',
  'job_id',
  'conversation_id',
] as const satisfies (keyof RunsTable)[]

/** Announces a change, then applies the effects that the caller passed. */
export async function announceChange(
  tx: Tx,
  row: Pick<RunsTable, (typeof CHANGE_COLUMNS)[number]>,
  at: Date,
  effects: readonly RunEffect[] = [],
): Promise<void> {
  const change: RunChange = {
    id: row.id,
    state: row.state,
    notBefore: date(row.not_before),
    paused: isPaused(row.not_before),
    outcome: row.outcome_name as OutcomeName | null,
    jobId: row.job_id,
    conversationId: row.conversation_id,
    at,
  }
  for (const listener of tx.listeners) await listener.changed?.(tx, change)
  for (const effect of effects) await effect(tx, change)
}

export async function announceDelay(tx: Tx, id: RunId, byMs: number): Promise<void> {
  for (const listener of tx.listeners) await listener.delayed?.(tx, id, byMs)
}

export async function announcePlansEnded(tx: Tx, of: PlansOf, end: PlansEnd, at: Date): Promise<void> {
  for (const listener of tx.listeners) await listener.plansEnded?.(tx, of, end, at)
}
