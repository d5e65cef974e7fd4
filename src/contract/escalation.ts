/**
 * Escalation: a run works at a tier. When it has ended, its recommendation and the rules decide whether the next tier
 * takes over, in the same session. The runs that are linked that way are a chain.
 *
 *   run settles ──→ escalate   the next tier's run is queued
 *              ├──→ ask ──→ escalate (approved), stop (refused, or nobody answered in time)
 *              └──→ stop       with the reason
 */
import { z } from 'zod'
import { RunId } from './ids.ts'

/** What the agent reports at the end of a run at a tier. It becomes the schema of the agent's structured output. */
export const Signal = z.object({
  status: z.enum(['healthy', 'degraded', 'down', 'fixed', 'unknown']),
  summary: z.string().default(''),
  checks: z
    .array(z.object({ name: z.string(), status: z.enum(['ok', 'problem', 'unknown']), finding: z.string() }))
    .default([]),
  services: z.array(z.string()).default([]),
  actions: z
    .array(z.object({ action: z.string(), outcome: z.enum(['done', 'failed', 'refused', 'proposed']) }))
    .default([]),
  escalate: z.boolean(),
  reason: z.string().default(''),
})
export type Signal = z.infer<typeof Signal>

/**
 * `source`: where the recommendation was found; `none`: the run recommends nothing. `problem`: what is wrong with its
 * report.
 */
export const Recommendation = z.object({
  source: z.enum(['structured', 'block', 'exit-code', 'none']),
  escalate: z.boolean().nullable(),
  signal: Signal.nullable(),
  problem: z.string().nullable(),
})
export type Recommendation = z.infer<typeof Recommendation>

export const ESCALATION_REASONS = [
  'recommended',
  'approved',
  'approval-needed',
  'not-recommended',
  'no-recommendation',
  'failed',
  'quarantined',
  'cancelled',
  'max-tier',
  'cooldown',
  'budget',
  'refused',
  'approval-timeout',
] as const
export const EscalationReason = z.enum(ESCALATION_REASONS)
export type EscalationReason = z.infer<typeof EscalationReason>

export const Escalation = z
  .object({
    runId: RunId.schema,
    tier: z.number().int(),
    decision: z.enum(['escalate', 'ask', 'stop']),
    reason: EscalationReason,
    message: z.string(),
    toTier: z.number().int().nullable().describe('The tier that takes over, or would after an approval.'),
    nextRunId: RunId.schema.nullable(),
    recommendation: Recommendation,
    decidedBy: z.enum(['rules', 'person', 'timeout']),
    decidedAt: z.iso.datetime(),
    expiresAt: z.iso
      .datetime()
      .nullable()
      .describe('Until when the approval can be given. Set only while a person is asked.'),
    askHash: z
      .string()
      .nullable()
      .describe('The hash of what is to be approved. Set only while a person is asked.'),
  })
  .meta({ id: 'Escalation', description: 'What was decided after a run at a tier.' })
export type Escalation = z.infer<typeof Escalation>

export const Refusal = z.object({
  tool: z.string(),
  what: z.string(),
  rule: z.string().nullable(),
  reason: z.string(),
  dryRun: z.boolean().describe('Refused only because this is a dry run.'),
})
export type Refusal = z.infer<typeof Refusal>

export const Approval = z
  .strictObject({
    decision: z.enum(['approve', 'refuse']),
    message: z.string().max(2000).optional(),
    askHash: z
      .string()
      .max(128)
      .optional()
      .describe('The `askHash` that was shown: the decision applies to nothing else.'),
  })
  .meta({ id: 'Approval' })
export type Approval = z.infer<typeof Approval>

/** What a tier is given of the tiers before it when their session cannot be resumed. */
export const Handoff = z.object({
  version: z.literal(1),
  runId: RunId.schema,
  fromRunId: RunId.schema,
  /** Why the session was not resumed. */
  because: z.string(),
  task: z.string(),
  tiers: z.array(
    z.object({
      tier: z.number().int(),
      outcome: z.string(),
      status: Signal.shape.status.nullable(),
      summary: z.string(),
      checks: z.array(Signal.shape.checks.unwrap().element),
      services: z.array(z.string()),
      actions: Signal.shape.actions.unwrap(),
      recommends: z.enum(['escalate', 'stop', 'nothing']),
      reason: z.string(),
      /** From the events, not from the agent's own report. */
      commands: z.array(
        z.object({
          tool: z.string(),
          what: z.string(),
          outcome: z.enum(['ok', 'error', 'unknown', 'refused']),
          output: z.string(),
        }),
      ),
      /** How many of the oldest commands are left out. */
      omitted: z.number().int(),
    }),
  ),
})
export type Handoff = z.infer<typeof Handoff>
