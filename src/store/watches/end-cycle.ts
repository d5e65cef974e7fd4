import type { CycleOutcome } from '../../contract/cycle.ts'
import type { CycleId, SessionId, WatchId } from '../../contract/ids.ts'
import type { PlannedNotification } from '../../core/notify/plan.ts'
import { enqueueNotifications } from '../base/outbox.ts'
import type { Tx } from '../base/transaction.ts'

export interface CycleEnd {
  outcome: CycleOutcome
  message: string | null
  status: string | null
  summary: string | null
  notices: readonly PlannedNotification[]
  /** The watch's persistent memory continues in the cycle's session. */
  keepSession: boolean
  /** The watch is due then instead of at `before`; null: its time stands. */
  due: { before: Date; at: Date; fireAt: Date } | null
}

/**
 * Open or queued → ended. Returns false if the cycle is neither, or not finished: a run is open, a follow-up is
 * planned, or an approval is pending. These are checked here because they may have changed since the caller checked.
 */
export async function endCycle(tx: Tx, id: CycleId, end: CycleEnd, at: Date): Promise<boolean> {
  const row = await tx
    .updateTable('cycles')
    .set((eb) => ({
      state: 'ended' as const,
      outcome: eb.fn.coalesce('outcome', eb.val(end.outcome)),
      message: eb.fn.coalesce('message', eb.val(end.message)),
      status: end.status,
      summary: end.summary,
      ended_at: at.getTime(),
    }))
    .where('id', '=', id)
    .where('state', 'in', ['open', 'queued'])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs as r')
            .select('r.id')
            .whereRef('r.cycle_id', '=', 'cycles.id')
            .where('r.state', '<>', 'settled'),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('follow_ups as f')
            .select('f.id')
            .whereRef('f.root_run_id', '=', 'cycles.root_run_id')
            .where('f.state', '=', 'planned'),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs as r')
            .innerJoin('escalations as e', 'e.run_id', 'r.id')
            .select('r.id')
            .whereRef('r.cycle_id', '=', 'cycles.id')
            .where('e.decision', '=', 'ask'),
        ),
      ),
    )
    .returningAll()
    .executeTakeFirst()
  if (!row) return false
  if (end.keepSession && row.root_run_id) {
    const root = await tx
      .selectFrom('runs')
      .select('session_id')
      .where('id', '=', row.root_run_id)
      .executeTakeFirst()
    if (root?.session_id) await rememberSession(tx, row.watch_id, root.session_id, at)
  }
  if (end.due) await setDue(tx, row.watch_id, end.due)
  await enqueueNotifications(tx, end.notices, at)
  return true
}

/** Has no effect if the watch has fired or was changed meanwhile. */
async function setDue(
  tx: Tx,
  id: WatchId,
  { before, at, fireAt }: NonNullable<CycleEnd['due']>,
): Promise<void> {
  await tx
    .updateTable('watches')
    .set({ due_at: at.getTime(), next_at: fireAt.getTime() })
    .where('id', '=', id)
    .where('due_at', '=', before.getTime())
    .where('state', '=', 'active')
    .where('removed_at', 'is', null)
    .execute()
}

/** Records the session that holds the watch's memory. */
async function rememberSession(tx: Tx, id: WatchId, sessionId: SessionId, at: Date): Promise<void> {
  await tx
    .updateTable('watches')
    .set((eb) => {
      const ifSame = eb.case().when('session_id', '=', sessionId)
      return {
        session_id: sessionId,
        session_cycles: ifSame
          .then(eb('session_cycles', '+', 1))
          .else(1)
          .end(),
        session_since: ifSame.then(eb.ref('session_since')).else(at.getTime()).end(),
      }
    })
    .where('id', '=', id)
    .execute()
}
