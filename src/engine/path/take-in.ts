/**
 * Imports turns that were made in the session of a run outside Reprise, before the session is resumed or given up. They
 * are stored where the purpose of the run keeps its history, and always with the session, so that a new session gets
 * them. They are stored before the attempt is prepared again; after a crash they are found again, and each is imported
 * once.
 */
import { describeOutside } from '../../core/history/outside.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { type PrepareDeps, type Prepared, prepareAttempt } from './prepare.ts'

export type TakeInDeps = PrepareDeps & { store: Pick<Store, 'getRun'>; log: Log }

/** Returns the run as it is after the import: imported turns come before its own. */
export async function prepareInformed(
  deps: TakeInDeps,
  queued: RunRecord,
  workTree: string | null,
): Promise<{ run: RunRecord; prepared: Prepared | 'busy' }> {
  const first = await prepareAttempt(deps, queued, workTree)
  if (first === 'busy' || first.outside === null) return { run: queued, prepared: first }
  const { session, turns } = first.outside
  await deps.purposes.of(queued).takeIn(queued, { session, turns })
  deps.log.info(
    { run: queued.id, session: session.id, turns: turns.length },
    'imported turns from outside Reprise',
  )
  const run = (await deps.store.getRun(queued.id)) ?? queued
  const prepared = await prepareAttempt(deps, run, workTree)
  if (prepared === 'busy') return { run, prepared }
  const note = describeOutside(turns)
  return {
    run,
    prepared: {
      ...prepared,
      outsideTurns: turns.length,
      notes: [...(note ? [note] : []), ...prepared.notes],
    },
  }
}
