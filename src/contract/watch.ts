/**
 * A watch observes something again and again. Each time is a cycle: a chain of runs that begins at tier 1 and may
 * escalate, with the follow-ups that its runs asked for. A watch has one open cycle at a time.
 *
 * A cycle:
 *   queued ──→ running ⇄ waiting ──→ ended    waiting: for a follow-up, or for approval
 *   skipped                                   it was due while another one was open
 *
 * Watches come from the configuration, which then is the place to change them, or are made through the API.
 */
import { z } from 'zod'
import { Chain } from './chain.ts'
import { Signal } from './escalation.ts'
import { FollowUp } from './follow-up.ts'
import { CycleId, RunId, SessionId, WatchId } from './ids.ts'
import { Usage } from './outcome.ts'
import { CreateRun, MaxDurationMs, TierNumber, WorkDir } from './run.ts'

export const WatchName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, {
  error: 'expected a name of small letters, digits and . _ -, up to 63',
})

export const MEMORIES = ['fresh', 'persistent'] as const
/** `fresh`: each cycle begins with a clean session. `persistent`: each goes on in the session of the one before. */
export const Memory = z.enum(MEMORIES)
export type Memory = z.infer<typeof Memory>

export const OVERLAPS = ['skip', 'queue'] as const
/** What to do when a cycle is due while another is open. */
export const Overlap = z.enum(OVERLAPS)
export type Overlap = z.infer<typeof Overlap>

export const NOTIFY_FROM = ['all', 'problem', 'attention', 'change'] as const
/** What people are told of a watch. `change`: not that it is as it was the time before. */
export const NotifyFrom = z.enum(NOTIFY_FROM)
export type NotifyFrom = z.infer<typeof NotifyFrom>

const HookSecret = z
  .string()
  .regex(/^[\x21-\x7e]{16,255}$/, { error: 'expected 16 to 255 visible ASCII characters' })

/** What a watch is. Times are checked further when it is made: see core/schedule. */
export const WatchDefinition = z.strictObject({
  everyMs: z.number().int().optional(),
  cron: z.string().min(1).max(200).optional(),
  timeZone: z.string().max(64).optional(),
  /** Each firing is late by up to so much, by chance. */
  jitterMs: z.number().int().min(0).optional(),
  workDir: WorkDir,
  prompt: CreateRun.shape.prompt,
  agent: z.string().max(64).optional(),
  memory: Memory.optional(),
  overlap: Overlap.optional(),
  maxTier: TierNumber.optional(),
  dryRun: z.boolean().optional(),
  environment: CreateRun.shape.environment,
  /** What one cycle may cost, with all of its tiers and follow-ups. */
  maxBudgetUsd: CreateRun.shape.maxBudgetUsd,
  /** What all cycles of a day may cost together; then none begins until the next day. */
  maxBudgetUsdPerDay: CreateRun.shape.maxBudgetUsd,
  /** How long one cycle may take, with its follow-ups. */
  maxDurationMs: MaxDurationMs.optional(),
  /** With this one may send events to the watch, and do nothing else. */
  hookSecret: HookSecret.optional(),
  /** How many cycles events may start in an hour. */
  eventsPerHour: z.number().int().min(1).max(3600).optional(),
  /** The same event is taken for known for so long. */
  dedupeMs: z
    .number()
    .int()
    .min(0)
    .max(30 * 86_400_000)
    .optional(),
  /** Of a persistent memory: after so long, or so many cycles, it begins anew. */
  renewAfterMs: z.number().int().min(60_000).optional(),
  renewAfterCycles: z.number().int().min(1).max(100_000).optional(),
  /** Of the targets in notify, those to be told; without it all. */
  notify: z.array(z.string().max(64)).optional(),
  /** Told of this watch, besides those. */
  webhook: z
    .url({ protocol: /^https?$/, error: 'expected an http or https address' })
    .max(2048)
    .optional(),
  /** Nothing below it is told. */
  notifyFrom: NotifyFrom.optional(),
})
export type WatchDefinition = z.infer<typeof WatchDefinition>

/** In requests durations may also be written as in the configuration: `every: "30m"`. */
const Every = z.union([z.string().max(32), z.number().int()])

export const CreateWatch = WatchDefinition.extend({
  name: WatchName,
  every: Every.optional(),
  paused: z.boolean().optional(),
})
export type CreateWatch = z.infer<typeof CreateWatch>

export const UpdateWatch = WatchDefinition.partial().extend({
  every: Every.optional(),
  paused: z.boolean().optional(),
})
export type UpdateWatch = z.infer<typeof UpdateWatch>

export const TriggerWatch = z.strictObject({
  reason: z.string().max(2000).optional(),
  /** Any JSON: the agent gets it as data. */
  payload: z.unknown().optional(),
})
export type TriggerWatch = z.infer<typeof TriggerWatch>

export const TRIGGERS = ['schedule', 'catch-up', 'person', 'event'] as const
export const Trigger = z.enum(TRIGGERS)
export type Trigger = z.infer<typeof Trigger>

export const CYCLE_STATES = ['queued', 'running', 'waiting', 'ended', 'skipped'] as const
export const CycleState = z.enum(CYCLE_STATES)
export type CycleState = z.infer<typeof CycleState>

export const CYCLE_OUTCOMES = ['completed', 'failed', 'timed-out', 'cancelled'] as const
export const CycleOutcome = z.enum(CYCLE_OUTCOMES)
export type CycleOutcome = z.infer<typeof CycleOutcome>

/** Something that happened elsewhere, as it was sent in. */
export const WatchEvent = z.object({
  /** Two events with the same one are the same event. */
  fingerprint: z.string(),
  title: z.string(),
  receivedAt: z.iso.datetime(),
  payload: z.unknown(),
})
export type WatchEvent = z.infer<typeof WatchEvent>

export const Cycle = z.object({
  id: CycleId.schema,
  watchId: WatchId.schema,
  watch: z.string(),
  number: z.number().int(),
  state: CycleState,
  trigger: Trigger,
  /** Why it was triggered, why it was skipped, or how it ended. */
  message: z.string().nullable(),
  outcome: CycleOutcome.nullable(),
  /** What the newest of its runs that reported at all reported. */
  status: Signal.shape.status.nullable(),
  summary: z.string().nullable(),
  /** The highest tier it reached. */
  tier: z.number().int().nullable(),
  rootRunId: RunId.schema.nullable(),
  sessionId: z.string().nullable(),
  /** Of a persistent memory: it began anew, and why. */
  renewed: z.string().nullable(),
  runs: z.number().int(),
  usage: Usage,
  costUsd: z.number().nullable(),
  costEstimated: z.boolean(),
  eventCount: z.number().int(),
  pendingFollowUps: z.number().int(),
  dueAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  /** It is ended then, whatever is pending. */
  deadlineAt: z.iso.datetime().nullable(),
})
export type Cycle = z.infer<typeof Cycle>

export const CycleDetail = Cycle.extend({
  prompt: z.string(),
  events: z.array(WatchEvent),
  chain: Chain.nullable(),
  followUps: z.array(FollowUp),
})
export type CycleDetail = z.infer<typeof CycleDetail>

export const Watch = WatchDefinition.omit({ hookSecret: true }).extend({
  id: WatchId.schema,
  name: WatchName,
  /** Where it is defined, and so where it is changed. */
  source: z.enum(['config', 'api']),
  state: z.enum(['active', 'paused']),
  /** In words: "every 30 min", "0 7 * * 1-5 (Europe/Berlin)", or null: only when triggered. */
  schedule: z.string().nullable(),
  memory: Memory,
  overlap: Overlap,
  hasHookSecret: z.boolean(),
  nextAt: z.iso.datetime().nullable(),
  session: SessionId.schema.nullable(),
  openCycleId: CycleId.schema.nullable(),
  lastCycle: Cycle.nullable(),
  cycles: z.number().int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type Watch = z.infer<typeof Watch>

/** What came of an event or a trigger. */
export const Triggered = z.object({
  /** `started`, `queued`: a cycle was made. `merged`: into one that waits. `known`: it was handled already. `resolved`: it is over elsewhere. */
  result: z.enum(['started', 'queued', 'merged', 'known', 'resolved']),
  cycleId: CycleId.schema.nullable(),
  message: z.string(),
})
export type Triggered = z.infer<typeof Triggered>
