/** What HTTP needs besides the resources: health, status, pages, and the file by which the daemon is found. */
import { z } from 'zod'
import { JobId, RunId } from './ids.ts'
import { KeptProcessInfo } from './kept.ts'
import { Obstacle, Quota } from './obstacle.ts'
import { SandboxStatus } from './sandbox.ts'

export const Health = z
  .object({
    status: z.literal('ok'),
    version: z.string(),
    pid: z.number().int(),
    startedAt: z.iso.datetime(),
  })
  .meta({ id: 'Health' })
export type Health = z.infer<typeof Health>

/** A run that is held because the daemon died while handling it. */
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
  sandbox: SandboxStatus.describe('Which sandbox holds runs at tiers, and others that ask for one.'),
  cannotStore: z
    .object({ since: z.iso.datetime(), why: z.string() })
    .nullable()
    .describe('Set while the disk accepts no writes; storing is retried.'),
  disks: z
    .array(z.object({ path: z.string(), full: z.boolean(), message: z.string() }))
    .describe(
      "Reprise's own disks with too little space: new attempts wait. `full`: running ones were stopped and wait, too.",
    ),
  quarantined: z
    .array(Quarantined)
    .describe(
      'Runs that are held because the daemon died while handling them: those of the last days, newest first.',
    ),
  kept: z.array(KeptProcessInfo).describe('The processes of agents that wait for the next turn.'),
  obstacles: z.array(Obstacle).describe('Open limits and outages, and the runs that wait for them.'),
  paused: z
    .array(RunId.schema)
    .describe(
      'Runs without a job that waited too long and continue only when a person says so; the newest 50.',
    ),
  quotas: z
    .array(Quota)
    .describe('How much of their limits the accounts have used, as reported by the agents.'),
}).meta({ id: 'Status' })
export type Status = z.infer<typeof Status>

export const PageQuery = z.object({
  limit: z.coerce
    .number<number | string>()
    .int()
    .min(1)
    .max(200)
    .default(50)
    .describe('How many items a page has at most.'),
  cursor: z.string().max(256).optional().describe('`nextCursor` of the page before.'),
})

/** The parameters that all lists have. */
export interface ListQuery {
  limit: number
  cursor?: string | undefined
}

/** Each word must be found; case does not matter. */
export const ListSort = z
  .enum(['newest', 'activity'])
  .describe('`newest` (default): by creation. `activity`: the one that was used last comes first.')
export type ListSort = z.infer<typeof ListSort>

export const SearchText = z.string().max(200)

export const page = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    nextCursor: z
      .string()
      .nullable()
      .describe('Pass it as `cursor` for the next page; null: this is the last page.'),
  })
export type Page<T> = { items: T[]; nextCursor: string | null }

/** `$REPRISE_HOME/daemon.json`, by which clients find the daemon. */
export const DaemonFile = z.object({
  pid: z.number().int(),
  url: z.string(),
  startedAt: z.iso.datetime(),
  /** Identifies the directory of the daemon, so that a copy of it is not taken for the home of that daemon. */
  homeId: z.string().optional(),
  /** The Unix socket of the daemon, absolute or relative to the home. */
  socket: z.string().optional(),
})
export type DaemonFile = z.infer<typeof DaemonFile>
