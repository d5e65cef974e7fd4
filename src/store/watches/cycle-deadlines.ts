/** Until when an open cycle may take. What counts is time that passes, and in which it is not a person who is waited for. */
import type { CycleId, RunId } from '../../contract/ids.ts'
import type { Tx } from '../base/writer.ts'

/** The cycle of a run has waited for a person, or its run waits behind an obstacle. */
export async function extendDeadlineOf(tx: Tx, runId: RunId, byMs: number): Promise<void> {
  await tx
    .updateTable('cycles')
    .set((eb) => ({ deadline_at: eb('deadline_at', '+', byMs) }))
    .where('id', '=', (eb) =>
      eb.selectFrom('runs').select('cycle_id').where('id', '=', runId).$castTo<CycleId>(),
    )
    .where('state', '=', 'open')
    .execute()
}
