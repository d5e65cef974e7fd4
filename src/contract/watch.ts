/**
 * A watch is a check that is repeated. Each execution is a cycle: a chain of runs that starts at tier 1 and may
 * escalate, with the follow-ups that its runs planned. A watch has one open cycle at a time.
 *
 * A cycle:
 *   queued ──→ running ⇄ waiting ──→ ended    waiting: for a follow-up, or for approval
 *   skipped                                   it was due while another one was open; or it was queued for events, and
 *                                             the agent of the open cycle has read them all
 *
 * Watches are defined and changed in the configuration, or created and changed through the API.
 */
import { z } from 'zod'
import { CreateRun, MaxDurationMs, TierNumber, WorkDir } from './create-run.ts'
import { Cycle } from './cycle.ts'
import { CycleId, SessionId, WatchId } from './ids.ts'

export const WatchName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
  error: 'expected up to 63 lower-case letters, digits and . _ -',
})

export const MEMORIES = ['fresh', 'persistent'] as const
export const Memory = z
  .enum(MEMORIES)
  .describe(
    '`fresh`: each cycle starts in a new session. `persistent`: each cycle continues the session of the one before.',
  )
export type Memory = z.infer<typeof Memory>

export const OVERLAPS = ['skip', 'queue'] as const
export const Overlap = z.enum(OVERLAPS).describe('What to do when a cycle is due while another one is open.')
export type Overlap = z.infer<typeof Overlap>

export const NOTIFY_FROM = ['all', 'problem', 'attention', 'change'] as const
export const NotifyFrom = z
  .enum(NOTIFY_FROM)
  .describe(
    'The lowest level that causes a notification. `change`: only if the status differs from the cycle before.',
  )
export type NotifyFrom = z.infer<typeof NotifyFrom>

const HookSecret = z
  .string()
  .regex(/^[\x21-\x7e]{16,255}$/, { error: 'expected 16 to 255 visible ASCII characters' })

/** The definition of a watch. Its times are checked further when it is created: see core/schedule. */
export const WatchDefinition = z.strictObject({
  everyMs: z.number().int().optional(),
  everyWhileNotHealthyMs: z
    .number()
    .int()
    .optional()
    .describe(
      'A shorter interval, which applies while the last cycle did not complete with the status `healthy` or `fixed`. Cancelled cycles do not count.',
    ),
  cron: z.string().min(1).max(200).optional(),
  timeZone: z.string().max(64).optional(),
  jitterMs: z
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Each cycle starts up to this much later, at random.'),
  workDir: WorkDir,
  prompt: CreateRun.shape.prompt,
  agent: z.string().max(64).optional(),
  memory: Memory.optional(),
  overlap: Overlap.optional(),
  maxTier: TierNumber.optional(),
  dryRun: z.boolean().optional(),
  environment: CreateRun.shape.environment,
  maxBudgetUsd: CreateRun.shape.maxBudgetUsd.describe(
    'Limit for one cycle in US dollars, with all of its tiers and follow-ups.',
  ),
  maxBudgetUsdPerDay: CreateRun.shape.maxBudgetUsd.describe(
    'Limit for all cycles of a day together; when it is reached, no cycle starts until the next day.',
  ),
  maxDurationMs: MaxDurationMs.optional().describe('Limit for one cycle, with its follow-ups.'),
  hookSecret: HookSecret.optional().describe(
    'A secret that allows its holder to send events to the watch, and nothing else.',
  ),
  eventsPerHour: z
    .number()
    .int()
    .min(1)
    .max(3600)
    .optional()
    .describe('How many cycles per hour events may start.'),
  dedupeMs: z
    .number()
    .int()
    .min(0)
    .max(30 * 86_400_000)
    .optional()
    .describe('How long an event that is sent again is recognized as the same one.'),
  renewAfterMs: z
    .number()
    .int()
    .min(60_000)
    .optional()
    .describe('With `memory: persistent`: start a new session after this time.'),
  renewAfterCycles: z
    .number()
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe('With `memory: persistent`: start a new session after this many cycles.'),
  notify: z.array(z.string().max(64)).optional().describe('The notification targets to use; default: all.'),
  webhook: z
    .url({ protocol: /^https?$/, error: 'expected an http or https address' })
    .max(2048)
    .optional()
    .describe('Notified about this watch, in addition to the targets.'),
  notifyFrom: NotifyFrom.optional().describe('Notifications below this level are not sent.'),
})
export type WatchDefinition = z.infer<typeof WatchDefinition>

/** In requests durations can be written as in the configuration: `every: "30m"`. */
const Every = z.union([z.string().max(32), z.number().int()])

export const CreateWatch = WatchDefinition.extend({
  name: WatchName,
  every: Every.optional(),
  paused: z.boolean().optional(),
}).meta({ id: 'CreateWatch' })
export type CreateWatch = z.infer<typeof CreateWatch>

const { workDir, prompt, ...optional } = WatchDefinition.shape
type OrNull<Shape extends Readonly<Record<string, z.ZodType>>> = {
  [Key in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Key]>>
}
const orNull = Object.fromEntries(
  Object.entries(optional).map(([key, schema]) => [key, schema.nullable().optional()]),
) as OrNull<typeof optional>

export const UpdateWatch = z
  .strictObject({
    workDir: workDir.optional(),
    prompt: prompt.optional(),
    ...orNull,
    every: Every.optional(),
    paused: z.boolean().optional(),
  })
  .meta({ id: 'UpdateWatch', description: 'null removes a setting, so that its default applies.' })
export type UpdateWatch = z.infer<typeof UpdateWatch>

export const TriggerWatch = z
  .strictObject({
    reason: z.string().max(2000).optional(),
    payload: z.unknown().optional().describe('Any JSON; the agent is given it as data.'),
  })
  .meta({ id: 'TriggerWatch' })
export type TriggerWatch = z.infer<typeof TriggerWatch>

export const Watch = WatchDefinition.omit({ hookSecret: true })
  .extend({
    id: WatchId.schema,
    name: WatchName,
    source: z
      .enum(['config', 'api'])
      .describe('Where the watch is defined, and therefore where it is changed.'),
    state: z.enum(['active', 'paused']),
    schedule: z
      .string()
      .nullable()
      .describe('In words: `every 30 min`, `0 7 * * 1-5 (Europe/Berlin)`; null: only when it is triggered.'),
    memory: Memory,
    overlap: Overlap,
    hasHookSecret: z.boolean(),
    nextAt: z.iso.datetime().nullable(),
    session: SessionId.schema.nullable(),
    openCycleId: CycleId.schema.nullable(),
    lastCycle: Cycle.nullable().describe(
      'The newest cycle; if it was skipped for another one, that one. null: there was none yet.',
    ),
    cycles: z.number().int(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Watch', description: 'A check that is repeated on a schedule or started by events.' })
export type Watch = z.infer<typeof Watch>

/** The result of an event or a trigger. */
export const Triggered = z
  .object({
    result: z
      .enum(['started', 'queued', 'merged', 'known', 'resolved'])
      .describe(
        '`started`, `queued`: a cycle was created. `merged`: the event was added to a queued cycle. While another cycle is open, its agent is told the event; the queued one starts only if nobody has read it. `known`: the event was handled already. `resolved`: the event reports that something is over.',
      ),
    cycleId: CycleId.schema.nullable(),
    message: z.string(),
  })
  .meta({ id: 'Triggered' })
export type Triggered = z.infer<typeof Triggered>
