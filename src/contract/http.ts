/** What crosses HTTP besides the things themselves: health, pages, the daemon's own file. */
import { z } from 'zod'
import { JobId, RunId } from './ids.ts'
import { Obstacle, Quota } from './obstacle.ts'

export const Health = z.object({
  status: z.literal('ok'),
  version: z.string(),
  pid: z.number().int(),
  startedAt: z.iso.datetime(),
})
export type Health = z.infer<typeof Health>

/** A run that is held because the daemon died of it. */
export const Quarantined = z.object({
  runId: RunId.schema,
  jobId: JobId.schema.nullable(),
  at: z.iso.datetime(),
  why: z.string(),
})
export type Quarantined = z.infer<typeof Quarantined>

export const Status = Health.extend({
  home: z.string(),
  url: z.string(),
  simulator: z.string().nullable(),
  runs: z.object({ queued: z.number().int(), running: z.number().int(), settled: z.number().int() }),
  memoryBytes: z.number(),
  /** The disk takes nothing at present; what is to be stored is tried again. */
  cannotStore: z.object({ since: z.iso.datetime(), why: z.string() }).nullable(),
  /** Of the last days, newest first. */
  quarantined: z.array(Quarantined),
  /** Limits and outages that are open, and who waits behind them. */
  obstacles: z.array(Obstacle),
  /** Runs of no job that have waited too long, and go on when a person says so; the newest 50. */
  paused: z.array(RunId.schema),
  /** How much of their limits the accounts have used, as far as their agents say. */
  quotas: z.array(Quota),
})
export type Status = z.infer<typeof Status>

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(256).optional(),
})

/** What a list is asked for, besides what is its own. */
export interface ListQuery {
  limit: number
  cursor?: string | undefined
}

export const page = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable() })
export type Page<T> = { items: T[]; nextCursor: string | null }

/** `$REPRISE_HOME/daemon.json`: how others find the daemon. */
export const DaemonFile = z.object({
  pid: z.number().int(),
  url: z.string(),
  startedAt: z.iso.datetime(),
  /** Which directory the daemon works in, so that a copy of it is not taken for the home of that daemon. */
  homeId: z.string().optional(),
})
export type DaemonFile = z.infer<typeof DaemonFile>
