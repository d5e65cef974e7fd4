/**
 * Ends all runs that have a process, for an engine that closes and leaves nothing running.
 *
 * Each run is cancelled, and its end is waited for. That needs writes. If the disk refuses them for a while, nobody knows
 * for how long, so the processes are ended without it: nothing is left running, but the cancellations are not stored, and
 * the next engine on the home continues these runs.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { RepriseError } from '../../contract/errors.ts'
import type { RunId } from '../../contract/ids.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { Processes } from '../base/processes.ts'
import type { StorageFailures } from '../base/storage-failures.ts'

export interface EndAllDeps {
  store: Pick<Store, 'listOpenProcesses'>
  processes: Pick<Processes, 'endStrays' | 'folderOf' | 'readKeeper'>
  storageFailures: Pick<StorageFailures, 'current'>
  log: Log
  /** The runs that are being driven; an entry goes when its run has ended. */
  driving: ReadonlyMap<Promise<void>, RunId>
  cancel: (id: RunId) => Promise<unknown>
}

const LOOK_MS = 500
/** How often the disk may refuse in a row before the ends are no longer waited for: ten seconds. */
const MAX_REFUSALS = 20
const KILL_MS = 5000

export async function endAll(deps: EndAllDeps, lookMs = LOOK_MS): Promise<void> {
  const { driving, storageFailures, log } = deps
  /** Runs whose cancellation is under way or stored. */
  const cancelled = new Set<RunId>()
  const refused = new Set<RunId>()
  const cancel = async (id: RunId) => {
    cancelled.add(id)
    try {
      await deps.cancel(id)
      refused.delete(id)
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'home-unusable') return
      cancelled.delete(id)
      refused.add(id)
    }
  }
  for (let refusals = 0; driving.size > 0; ) {
    // A run may have been added between two looks.
    for (const id of new Set(driving.values())) if (!cancelled.has(id)) void cancel(id)
    const over = new AbortController()
    await Promise.race([
      Promise.allSettled(driving.keys()),
      delay(lookMs, undefined, { signal: over.signal }).catch(() => {}),
    ])
    over.abort()
    refusals = refused.size > 0 || storageFailures.current !== null ? refusals + 1 : 0
    if (refusals < MAX_REFUSALS) continue
    log.error(
      { runs: driving.size },
      'closing although the disk refuses writes: the runs end without a record',
    )
    return endProcesses(deps)
  }
}

async function endProcesses({ store, processes, log }: EndAllDeps): Promise<void> {
  for (const { attempt } of await store.listOpenProcesses()) {
    if (!attempt) continue
    try {
      const keeper = await processes.readKeeper(processes.folderOf(attempt.spool), attempt.spool)
      await processes.endStrays(attempt.spool, keeper, KILL_MS)
    } catch (error) {
      log.error({ attempt: attempt.id, error: String(error) }, 'could not end a process')
    }
  }
}
