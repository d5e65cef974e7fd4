/**
 * After going back to an older copy of the database: cancels the runs that the copy has as open and that settled in the
 * newer database, so that no work is done twice. Which they are is noted in the copy before it becomes the database
 * (store/sqlite/upgrade.ts), and the note is removed here, so a daemon that dies in between leaves the rest to the next.
 */
import { RepriseError } from '../contract/errors.ts'
import { RunId } from '../contract/ids.ts'
import type { RunningEngine } from '../engine/engine-input.ts'
import { SETTLED_SINCE_FACT } from '../store/sqlite/upgrade.ts'
import type { Store } from '../store/store.ts'

/** The engine must not be open yet, because it would continue them. */
export async function cancelSettledSince(
  store: Pick<Store, 'getFact' | 'putFact'>,
  engine: Pick<RunningEngine, 'cancel'>,
): Promise<void> {
  const noted = await store.getFact(SETTLED_SINCE_FACT)
  if (noted === null || noted === '') return
  for (const id of noted.split(' ').filter(RunId.is)) {
    await engine.cancel(id).catch((error: unknown) => {
      if (!(error instanceof RepriseError) || error.code !== 'run-settled') throw error
    })
  }
  await store.putFact(SETTLED_SINCE_FACT, '')
}
