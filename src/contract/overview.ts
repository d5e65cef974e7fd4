/** The overview answers a person's first questions: what needs them, what is at work, what waits by itself, and what today cost. */
import { z } from 'zod'
import { Escalation } from './escalation.ts'
import { JobId, RunId } from './ids.ts'
import { Attention } from './job.ts'
import { OutcomeName, Usage } from './outcome.ts'
import { PendingQuestion } from './question.ts'
import { FreshReason } from './run.ts'

/** The purpose of a run, or the session that a follow-up continues, with a title for people. */
export const Subject = z
  .object({
    kind: z.enum(['job', 'conversation', 'cycle', 'watch', 'session', 'run']),
    id: z.string(),
    title: z.string(),
  })
  .meta({ id: 'Subject' })
export type Subject = z.infer<typeof Subject>

const who = { subject: Subject, runId: RunId.schema, agent: z.string(), model: z.string().nullable() }

export const NeedsYou = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('question'),
      ...who,
      workDir: z.string(),
      question: PendingQuestion,
      since: z.iso.datetime(),
    }),
    z.object({ kind: z.literal('approval'), ...who, escalation: Escalation, since: z.iso.datetime() }),
    z.object({
      kind: z.literal('job'),
      ...who,
      jobId: JobId.schema,
      attention: Attention,
      message: z.string().nullable(),
      spentUsd: z.number(),
      maxBudgetUsd: z.number().nullable(),
      spentTokens: z.number(),
      maxBudgetTokens: z.number().nullable(),
      since: z.iso.datetime(),
    }),
    z.object({
      kind: z.literal('run'),
      ...who,
      message: z.string().nullable(),
      since: z.iso.datetime(),
    }),
  ])
  .meta({ id: 'NeedsYou', description: 'Something that continues only when a person answers or decides.' })
export type NeedsYou = z.infer<typeof NeedsYou>

export const AtWork = z
  .object({
    ...who,
    doing: z.string().nullable().describe('The newest tool call or sentence of the agent.'),
    tool: z.string().nullable(),
    tier: z.number().int().nullable(),
    startedAt: z.iso.datetime().nullable(),
    attempt: z.number().int(),
    costUsd: z.number().nullable(),
    contextTokens: z.number().nullable(),
    contextWindow: z.number().nullable(),
  })
  .meta({ id: 'AtWork' })
export type AtWork = z.infer<typeof AtWork>

export const Parked = z
  .object({
    kind: z.enum(['limit', 'outage', 'wait', 'queue', 'follow-up', 'schedule']),
    id: z
      .string()
      .describe('The id of the run, the follow-up, or the watch that fires next by its schedule.'),
    subject: Subject,
    message: z.string().nullable(),
    until: z.iso.datetime().nullable().describe('When it continues; null: as soon as there is a free slot.'),
    behind: z.number().int().describe('How many others wait for the same.'),
  })
  .meta({ id: 'Parked', description: 'Something that continues by itself.' })
export type Parked = z.infer<typeof Parked>

export const CostRow = z
  .object({
    at: z.iso.datetime().describe('The beginning of the half hour in which the runs ended.'),
    agent: z.string(),
    model: z.string().nullable(),
    tier: z.number().int().nullable(),
    purpose: z.enum(['job', 'conversation', 'watch', 'run']),
    runs: z.number().int(),
    failed: z.number().int(),
    cancelled: z.number().int(),
    usage: Usage,
    costUsd: z.number(),
    savedUsd: z.number().describe('What resuming saved; negative if it cost more.'),
  })
  .meta({ id: 'CostRow', description: 'Sums over the runs that ended in one half hour.' })
export type CostRow = z.infer<typeof CostRow>

export const Failure = z.object({
  subject: Subject,
  runId: RunId.schema,
  jobId: JobId.schema.nullable(),
  outcome: OutcomeName,
  message: z.string().nullable(),
  at: z.iso.datetime(),
})
export type Failure = z.infer<typeof Failure>

export const Overview = z
  .object({
    at: z.iso.datetime().describe("The daemon's time."),
    simulated: z
      .array(z.string())
      .describe('Agents that talk to the simulator: what they cost is not paid to anybody.'),
    needsYou: z.array(NeedsYou).describe('The longest waiting first.'),
    atWork: z.array(AtWork).describe('The longest working first.'),
    parked: z.array(Parked).describe('What continues first comes first.'),
    since: z.iso.datetime(),
    costs: z.array(CostRow).describe('Of the runs that ended since then.'),
    failures: z.array(Failure).describe('Newest first.'),
  })
  .meta({ id: 'Overview' })
export type Overview = z.infer<typeof Overview>

/** Says what would happen if a message were sent now. */
export const TurnPlan = z
  .object({
    agent: z.string(),
    kind: z.enum(['resume', 'compact', 'fresh', 'busy', 'unavailable']),
    sessionId: z.string().nullable().describe("The agent's own id of the session that would be resumed."),
    freshReason: FreshReason.nullable(),
    turns: z.number().int().describe('How many earlier turns the text would contain.'),
    promptTokens: z.number().describe('Estimated tokens of the text before the message itself.'),
    leftOutTurns: z.number().int(),
    message: z.string().describe('In a sentence, for people.'),
  })
  .meta({ id: 'TurnPlan' })
export type TurnPlan = z.infer<typeof TurnPlan>
