/** A cycle: one execution of a watch. Its states are described in watch.ts. */
import { z } from 'zod'
import { Chain } from './chain.ts'
import { Signal } from './escalation.ts'
import { FollowUp } from './follow-up.ts'
import { CycleId, RunId, WatchId } from './ids.ts'
import { Usage } from './outcome.ts'

export const TRIGGERS = ['schedule', 'catch-up', 'person', 'event'] as const
export const Trigger = z
  .enum(TRIGGERS)
  .describe('`catch-up`: the cycle was due while the daemon did not run.')
export type Trigger = z.infer<typeof Trigger>

export const CYCLE_STATES = ['queued', 'running', 'waiting', 'ended', 'skipped'] as const
export const CycleState = z
  .enum(CYCLE_STATES)
  .describe(
    '`waiting`: for a follow-up or an approval. `skipped`: it was due while another cycle was open, whose agent may have been told its events (`takenBy`).',
  )
export type CycleState = z.infer<typeof CycleState>

export const CYCLE_OUTCOMES = ['completed', 'failed', 'timed-out', 'cancelled'] as const
export const CycleOutcome = z.enum(CYCLE_OUTCOMES)
export type CycleOutcome = z.infer<typeof CycleOutcome>

/** An event of another system, as it was sent. */
export const WatchEvent = z
  .object({
    fingerprint: z.string().describe('Two events with the same fingerprint are the same event.'),
    title: z.string(),
    receivedAt: z.iso.datetime(),
    payload: z.unknown(),
  })
  .meta({ id: 'WatchEvent' })
export type WatchEvent = z.infer<typeof WatchEvent>

export const Cycle = z
  .object({
    id: CycleId.schema,
    watchId: WatchId.schema,
    watch: z.string(),
    number: z.number().int(),
    state: CycleState,
    trigger: Trigger,
    message: z.string().nullable().describe('Why it was triggered, why it was skipped, or how it ended.'),
    outcome: CycleOutcome.nullable(),
    status: Signal.shape.status
      .nullable()
      .describe('The status reported by the newest of its runs that reported one.'),
    summary: z.string().nullable(),
    tier: z.number().int().nullable().describe('The highest tier that the cycle reached.'),
    rootRunId: RunId.schema.nullable(),
    sessionId: z.string().nullable().describe("The agent's own id of the session."),
    renewed: z
      .string()
      .nullable()
      .describe('Why the persistent session was replaced by a new one; null if it was not.'),
    runs: z.number().int(),
    usage: Usage,
    costUsd: z.number().nullable(),
    costEstimated: z.boolean(),
    eventCount: z.number().int(),
    pendingFollowUps: z.number().int(),
    dueAt: z.iso.datetime(),
    startedAt: z.iso.datetime().nullable(),
    endedAt: z.iso.datetime().nullable(),
    deadlineAt: z.iso.datetime().nullable().describe('When the cycle is ended, whatever is pending.'),
    takenBy: CycleId.schema
      .nullable()
      .describe('The cycle whose agent was told the events of this one, which is skipped therefore.'),
  })
  .meta({
    id: 'Cycle',
    description: 'One execution of a watch: a chain of runs that starts at tier 1, and their follow-ups.',
  })
export type Cycle = z.infer<typeof Cycle>

export const CycleDetail = Cycle.extend({
  prompt: z.string(),
  events: z.array(WatchEvent),
  chain: Chain.nullable(),
  followUps: z.array(FollowUp),
}).meta({ id: 'CycleDetail' })
export type CycleDetail = z.infer<typeof CycleDetail>
