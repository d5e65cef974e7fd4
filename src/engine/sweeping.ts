/** Periodically removes data whose retention time has passed. */
import type { Clock } from '../core/clock.ts'
import type { Store } from '../store/store.ts'
import type { Log } from './base/log.ts'
import type { Notifications } from './base/notifications.ts'
import type { JobSettings } from './base/settings.ts'
import type { Cooldowns } from './enforce/cooldowns.ts'
import { type SweepSandboxesDeps, sweepSandboxes } from './enforce/sweep-sandboxes.ts'
import type { Checkpoints } from './jobs/checkpoints.ts'
import type { Obstacles } from './obstacles/obstacles.ts'
import { type SweepDeps, sweepSpool } from './path/sweep.ts'
import { sweepArchive } from './sessions/archive.ts'

export type SweepingDeps = SweepDeps &
  SweepSandboxesDeps & {
    store: Pick<Store, 'forgetEvents' | 'deleteChanges'>
    clock: Clock
    log: Log
    archive: string
    obstacles: Pick<Obstacles, 'sweep'>
    notifications: Pick<Notifications, 'sweep'>
    checkpoints: Pick<Checkpoints, 'sweep'>
    cooldowns: Pick<Cooldowns, 'sweep'>
    settings: { jobs: Pick<JobSettings, 'keepCheckpointsMs' | 'keepArchiveMs'> }
  }

const SWEEP_EVERY_MS = 3_600_000
/** Longer than the period in which an event sent to a watch is recognised as a repetition. */
const KEEP_EVENTS_MS = 31 * 86_400_000
/** Retention of the change feed. A reader that was away for longer must reload everything. */
const KEEP_CHANGES_MS = 7 * 86_400_000
const KEEP_CHANGES = 100_000

/** Sweeps now and every hour. Returns a function that stops it. */
export function startSweeping(deps: SweepingDeps): () => void {
  const sweep = () => {
    sweepOnce(deps).catch((error) => deps.log.warn({ error: String(error) }, 'sweeping failed'))
  }
  const timer = setInterval(sweep, SWEEP_EVERY_MS)
  timer.unref()
  sweep()
  return () => clearInterval(timer)
}

async function sweepOnce(deps: SweepingDeps): Promise<void> {
  const { store, clock, settings } = deps
  const before = (ageMs: number) => new Date(clock.now().getTime() - ageMs)
  await Promise.all([
    sweepSpool(deps),
    sweepSandboxes(deps),
    deps.obstacles.sweep(),
    deps.notifications.sweep(),
    deps.checkpoints.sweep(before(settings.jobs.keepCheckpointsMs)),
    deps.cooldowns.sweep(),
    store.forgetEvents(before(KEEP_EVENTS_MS)),
    store.deleteChanges({ before: before(KEEP_CHANGES_MS), keep: KEEP_CHANGES }),
    sweepArchive(deps.archive, settings.jobs.keepArchiveMs, clock.now()),
  ])
}
