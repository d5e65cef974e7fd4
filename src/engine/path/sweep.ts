/**
 * Removes the folders of attempts that ended long ago. Their events are in the store; what is lost is the raw output,
 * and with it the bytes that a `gap` event points to.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AttemptId } from '../../contract/ids.ts'
import type { Clock } from '../../core/clock.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'

export interface SweepDeps {
  store: Pick<Store, 'findAttemptEnd'>
  spool: string
  clock: Clock
  log: Log
  settings: { keepSpoolMs: number }
}

export async function sweepSpool({ store, spool, clock, settings, log }: SweepDeps): Promise<number> {
  const before = clock.now().getTime() - settings.keepSpoolMs
  let removed = 0
  for (const name of await readdir(spool).catch((): string[] => [])) {
    if (!AttemptId.is(name)) continue
    const endedAt = await store.findAttemptEnd(name)
    if (endedAt === null || endedAt.getTime() > before) continue
    await rm(join(spool, name), { recursive: true, force: true }).then(
      () => removed++,
      (error: unknown) =>
        log.warn({ attempt: name, error: String(error) }, 'could not remove a spool folder'),
    )
  }
  return removed
}
