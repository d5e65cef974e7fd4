/**
 * Takes in what others said in the session of a run, before it is resumed or given up: where the purpose of the run keeps
 * what was said, and in any case with the session, so that a fresh start carries it. It is stored before the attempt is
 * prepared for good; after a crash in between it is found again, and taken in once.
 */
import { describeOutside } from '../../core/history/outside.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { type PrepareDeps, type Prepared, prepareAttempt } from './prepare.ts'

export type TakeInDeps = PrepareDeps & { store: Pick<Store, 'getRun'>; log: Log }

/** Returns the run as it is then: turns that are taken in come before its own. */
export async function prepareInformed(
  deps: TakeInDeps,
  queued: RunRecord,
  workTree: string | null,
): Promise<{ run: RunRecord; prepared: Prepared | 'busy' }> {
  const first = await prepareAttempt(deps, queued, workTree)
  if (first === 'busy' || first.outside === null) return { run: queued, prepared: first }
  const { session, turns } = first.outside
  await deps.purposes.of(queued).takeIn(queued, { session, turns })
  deps.log.info({ run: queued.id, session: session.id, turns: turns.length }, 'took in turns from outside')
  const run = (await deps.store.getRun(queued.id)) ?? queued
  const prepared = await prepareAttempt(deps, run, workTree)
  if (prepared === 'busy') return { run, prepared }
  const note = describeOutside(turns)
  return { run, prepared: { ...prepared, notes: [...(note ? [note] : []), ...prepared.notes] } }
}
