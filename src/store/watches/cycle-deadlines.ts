/** Until when an open cycle may take. What counts is time that passes, and in which it is not a person who is waited for. */
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
  /** It has ended, or what it will end as is certain. */
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
