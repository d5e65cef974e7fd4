/** The deadlines of open cycles. Time in which the cycle waits for a person or behind an obstacle does not count. */
import type { CycleId } from '../../contract/ids.ts'
import type { RunListener } from '../base/transaction.ts'

export const watchListener: RunListener = {
  /** Its run has waited for a person, or waits behind an obstacle. */
  delayed: async (tx, runId, byMs) => {
    await tx
      .updateTable('cycles')
      .set((eb) => ({ deadline_at: eb('deadline_at', '+', byMs) }))
      .where('id', '=', (eb) =>
        eb.selectFrom('runs').select('cycle_id').where('id', '=', runId).$castTo<CycleId>(),
      )
      .where('state', '=', 'open')
      .execute()
  },
  /** The cycle has ended, or its outcome is already decided. */
  isOver: async (tx, cycleId) => {
    const over = await tx
      .selectFrom('cycles')
      .select('id')
      .where('id', '=', cycleId)
      .where((eb) => eb.or([eb('state', '<>', 'open'), eb('outcome', 'is not', null)]))
      .executeTakeFirst()
    return over !== undefined
  },
}
