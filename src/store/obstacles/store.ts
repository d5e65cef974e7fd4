/** The store interface of limits and outages, and of the runs that wait behind them. */
import type { Kysely } from 'kysely'
import type { RunId } from '../../contract/ids.ts'
import type { Met, Obstacle, Pauses } from '../../core/obstacle/obstacle.ts'
import type { Passage } from '../../core/obstacle/passage.ts'
import type { Tables } from '../base/schema.ts'
import type { Write } from '../base/transaction.ts'
import * as obstacles from './obstacles.ts'
import * as paused from './paused-runs.ts'

export interface ObstacleStore {
  meetObstacle: (
    met: Met,
    attempt: obstacles.Access & { id: string; runId: RunId; startedAt: Date },
    pauses: Pauses,
    at: Date,
  ) => Promise<Obstacle>
  /** Lets a queued run start, or makes it wait behind an obstacle. */
  passObstacles: (
    run: { id: RunId; createdAt: Date },
    access: obstacles.Access,
    limitMs: number,
    now: Date,
  ) => Promise<Passage>
  /** Returns the runs that were released. */
  closeObstacles: (access: obstacles.Access, runId: RunId, calledAt: Date, now: Date) => Promise<RunId[]>
  /**
   * Releases runs that wait behind another account's obstacle, and deletes old obstacles. Returns the released runs.
   */
  tidyObstacles: (ownAccountOf: Parameters<typeof obstacles.tidyObstacles>[1], now: Date) => Promise<RunId[]>
  listObstacles: (now: Date) => Promise<obstacles.OpenObstacle[]>
  /** Pauses a queued run until a person continues it with `hastenRun`. */
  pauseRun: (id: RunId, pause: paused.Pause, at: Date) => Promise<boolean>
  listPaused: () => Promise<RunId[]>
  /** The paused runs that should try again by themselves; `hastenRun` makes them. */
  listPausedDue: (failedBefore: Date, now: Date) => Promise<RunId[]>
}

export function createObstacleStore(reader: Kysely<Tables>, write: Write): ObstacleStore {
  return {
    meetObstacle: (met, attempt, pauses, at) =>
      write((tx) => obstacles.meetObstacle(tx, met, attempt, pauses, at)),
    passObstacles: (run, access, limitMs, now) =>
      write((tx) => obstacles.passObstacles(tx, run, access, limitMs, now)),
    closeObstacles: (access, runId, calledAt, now) =>
      write((tx) => obstacles.closeObstacles(tx, access, runId, calledAt, now)),
    tidyObstacles: (ownAccountOf, now) => write((tx) => obstacles.tidyObstacles(tx, ownAccountOf, now)),
    listObstacles: (now) => obstacles.listObstacles(reader, now),
    pauseRun: (id, pause, at) => write((tx) => paused.pauseRun(tx, id, pause, at)),
    listPaused: () => paused.listPaused(reader),
    listPausedDue: (failedBefore, now) => paused.listPausedDue(reader, failedBefore, now),
  }
}
