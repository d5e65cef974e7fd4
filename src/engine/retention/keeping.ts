/**
 * Decides when something old is deleted: every hour, and when a person asks for it. One sweep at a time. The sweep also
 * mirrors sessions in use that have no mirror yet: those from before there were mirrors, and adopted ones.
 */
import type { PruneReport, PruneRequest } from '../../contract/prune.ts'
import type { Clock } from '../../core/clock.ts'
import type { Store } from '../../store/store.ts'
import { KeyedLock } from '../base/keyed-lock.ts'
import type { Log } from '../base/log.ts'
import type { KeepSettings } from '../base/settings.ts'
import type { Cooldowns } from '../enforce/cooldowns.ts'
import type { Checkpoints } from '../jobs/checkpoints.ts'
import type { Mirror } from '../mirror/mirror.ts'
import type { Obstacles } from '../obstacles/obstacles.ts'
import { type DeleteSessionDeps, deleteSession, purgeDeletedSessions } from './delete-session.ts'
import { type SweepFilesDeps, sweepFiles } from './files.ts'
import { type SweepRowsDeps, sweepRows } from './rows.ts'
import { cutoff, type Sweep, Tally } from './tally.ts'

export type KeepingDeps = SweepRowsDeps &
  SweepFilesDeps &
  DeleteSessionDeps & {
    store: Pick<
      Store,
      'forgetEvents' | 'deleteChanges' | 'listJobsWithOldCheckpoints' | 'listSessions' | 'shrink'
    >
    clock: Clock
    log: Log
    mirrors: Pick<Mirror, 'catchUp' | 'listSessions'>
    obstacles: Pick<Obstacles, 'sweep'>
    checkpoints: Pick<Checkpoints, 'sweep'>
    cooldowns: Pick<Cooldowns, 'sweep'>
    settings: { keep: KeepSettings }
  }

const SWEEP_EVERY_MS = 3_600_000
/** Longer than the period in which an event sent to a watch is recognised as a repetition. */
const KEEP_EVENTS_MS = 31 * 86_400_000
/** Retention of the change feed. A reader that was away for longer must reload everything. */
const KEEP_CHANGES_MS = 7 * 86_400_000
const KEEP_CHANGES = 100_000
const MANY = 1000

export class Keeping {
  readonly #deps: KeepingDeps
  readonly #lock = new KeyedLock()
  #timer: NodeJS.Timeout | null = null
  /** The number of deleted sessions that a process still held at the last look. */
  #deletedLeft = 0

  constructor(deps: KeepingDeps) {
    this.#deps = deps
  }

  /** Sweeps now and every hour. */
  open(): void {
    const sweep = () => {
      this.#sweepHourly().catch((error) =>
        this.#deps.log.warn({ error: String(error) }, 'could not sweep everything'),
      )
    }
    this.#timer = setInterval(sweep, SWEEP_EVERY_MS).unref()
    sweep()
  }

  /** Resolves when a sweep that is under way has stopped. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.#lock.run('sweep', async () => {})
  }

  prune({ dryRun = false }: PruneRequest): Promise<PruneReport> {
    return this.#lock.run('sweep', async () => {
      const { store, closing: signal } = this.#deps
      const sweep: Sweep = { now: this.#deps.clock.now(), dryRun, tally: new Tally() }
      await this.#sweep(sweep)
      const items = sweep.tally.items()
      const { beforeBytes, afterBytes } = await store.shrink({ thorough: true, dryRun, signal })
      const inFiles = items.filter(({ kind }) => FILES.has(kind))
      const counted = dryRun ? items : inFiles
      const freedBytes = counted.reduce((sum, { bytes }) => sum + bytes, beforeBytes - afterBytes)
      return { dryRun, items, freedBytes, databaseBytes: afterBytes }
    })
  }

  async deleteSession(id: string): Promise<void> {
    this.#deletedLeft = await deleteSession(this.#deps, id)
  }

  /** A conversation was deleted: removes its sessions, those in use as soon as they are free. */
  async purge(): Promise<void> {
    this.#deletedLeft = await purgeDeletedSessions(this.#deps)
  }

  /** A run has ended: a deleted session may be free now. */
  noteRun(): void {
    if (this.#deletedLeft > 0) void this.purge()
  }

  async #sweepHourly(): Promise<void> {
    await this.#lock.run('sweep', async () => {
      const { store, clock, obstacles, cooldowns, closing } = this.#deps
      const now = clock.now()
      const before = (ageMs: number) => new Date(now.getTime() - ageMs)
      await obstacles.sweep()
      await cooldowns.sweep()
      await store.forgetEvents(before(KEEP_EVENTS_MS))
      await store.deleteChanges({ before: before(KEEP_CHANGES_MS), keep: KEEP_CHANGES })
      await this.#sweep({ now, dryRun: false, tally: new Tally() })
      await store.shrink({ thorough: false, signal: closing })
      await this.#mirrorOthers(now)
    })
  }

  async #sweep(sweep: Sweep): Promise<void> {
    const { store, checkpoints, settings } = this.#deps
    if (!sweep.dryRun) await this.purge()
    const before = cutoff(sweep, settings.keep.checkpointsMs)
    if (before) {
      const { length } = await store.listJobsWithOldCheckpoints(before, MANY)
      sweep.tally.add('checkpoints', { count: length, bytes: 0 })
      if (!sweep.dryRun) await checkpoints.sweep(before)
    }
    await sweepRows(this.#deps, sweep)
    await sweepFiles(this.#deps, sweep)
  }

  async #mirrorOthers(now: Date): Promise<void> {
    const { store, mirrors, settings, closing } = this.#deps
    if (settings.keep.transcriptsMs === 0) return
    const mirrored = new Set(await mirrors.listSessions())
    const { items } = await store.listSessions({ limit: MANY })
    for (const { id, lastUsedAt } of items) {
      const isUsable = now.getTime() - lastUsedAt.getTime() <= settings.resume.maxAgeMs
      if (closing.aborted) return
      if (isUsable && !mirrored.has(id)) await mirrors.catchUp(id, undefined, { trustSize: true })
    }
  }
}

const FILES: ReadonlySet<string> = new Set(['transcripts', 'output', 'damaged', 'sandboxes'])
