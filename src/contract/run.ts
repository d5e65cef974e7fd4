/** A run as callers see it. The names are part of the public API: fields are added, not renamed. */
import { z } from 'zod'
import { CacheUse } from './cache.ts'
import { Escalation } from './escalation.ts'
import { QuestionItem } from './events.ts'
import { FollowUp } from './follow-up.ts'
import { AttemptId, ConversationId, CycleId, FollowUpId, JobId, RunId, SessionId, SessionRef } from './ids.ts'
import { LeftOut } from './left-out.ts'
import { Outcome, OutcomeName, Usage } from './outcome.ts'

export const PERMISSION_MODES = ['ask-all', 'ask', 'edits', 'allow'] as const
export const PermissionMode = z
  .enum(PERMISSION_MODES)
  .describe(
    'Who decides when the agent wants to use a tool. `ask-all`: a person, for every tool call. `ask`: a person, where the agent would ask. `edits`: as `ask`, but file edits in the work directory are allowed. `allow`: everything is allowed.',
  )
export type PermissionMode = z.infer<typeof PermissionMode>

export const FRESH_REASONS = [
  'first-run',
  'forced',
  'no-prior-turn',
  'no-resume-capability',
  'other-agent',
  'history-changed',
  'other-work-dir',
  'other-runtime',
  'expired',
  'poisoned',
  'too-many-resumes',
  'context-full',
  'transcript-missing',
  'transcript-unreadable',
  'transcript-foreign',
  'transcript-behind',
  'transcript-broken',
  'transcript-forked',
  'session-leased',
  'session-in-use',
  'refused',
] as const
export const FreshReason = z
  .enum(FRESH_REASONS)
  .describe('Why a new session was started instead of resuming one.')
export type FreshReason = z.infer<typeof FreshReason>

export const CARRIES = ['none', 'transcript', 'handoff'] as const
export const Carry = z
  .enum(CARRIES)
  .describe(
    'What a new session was given of the past: nothing, the conversation as text, or a summary of the tiers before.',
  )
export type Carry = z.infer<typeof Carry>

export const ModelName = z.string().regex(/^[A-Za-z0-9][\w.:@/[\]-]{0,127}$/, {
  error: 'expected a model name: letters, digits and . : @ / [ ] - _',
})

/** At most 24 days, the longest time that a timer supports. */
export const MaxDurationMs = z
  .number()
  .int()
  .min(1000)
  .max(24 * 86_400_000)

export const WorkDir = z
  .string()
  .max(4096)
  .refine((path) => !path.includes('\0'), { error: 'expected a path without NUL' })

export const TierNumber = z.number().int().min(1).max(9)

export const CreateRun = z
  .strictObject({
    prompt: z.string().refine((p) => p.trim() !== '', { error: 'expected a prompt that is not empty' }),
    agent: z.string().max(64).optional().describe('The name of a configured agent; default: the first one.'),
    model: ModelName.optional(),
    workDir: WorkDir.describe('The directory in which the agent works.'),
    sessionId: SessionRef.optional().describe(
      "Continue this session if that is safe: Reprise's id (`ses_…`) or the agent's own id.",
    ),
    forceFreshSession: z.boolean().optional().describe('Start a new session even if one could be resumed.'),
    permissions: PermissionMode.optional(),
    maxDurationMs: MaxDurationMs.optional(),
    maxResumes: z
      .number()
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe('How often the run is continued after an interruption.'),
    maxTurns: z.number().int().min(1).max(10_000).optional().describe('Limit for one attempt.'),
    continue: z
      .boolean()
      .optional()
      .describe(
        'Continue in the same session when `maxTurns` is reached, up to `maxTurnsTotal` (default: 10 times `maxTurns`).',
      ),
    maxTurnsTotal: z.number().int().min(1).max(100_000).optional(),
    maxBudgetUsd: z
      .number()
      .positive()
      .max(1_000_000)
      .optional()
      .describe('Limit in US dollars. With `tier`: for the whole chain.'),
    tier: TierNumber.optional().describe('Work at this tier, and escalate from there.'),
    maxTier: TierNumber.optional().describe('With `tier`: the highest tier that the chain may reach.'),
    approved: z
      .boolean()
      .optional()
      .describe('With a `tier` that needs approval: the approval is given with this request.'),
    dryRun: z.boolean().optional().describe('Refuse everything that would change something.'),
    environment: z
      .string()
      .max(200_000)
      .optional()
      .describe('With `tier`: a description of the environment, for a tier that starts in a new session.'),
  })
  .meta({ id: 'CreateRun' })
export type CreateRun = z.infer<typeof CreateRun>

export const PendingQuestion = z
  .object({
    toolUseId: z.string(),
    kind: z.enum(['question', 'permission']),
    askHash: z
      .string()
      .describe('The hash of what is asked: an answer that names it applies to nothing else.'),
    askedAt: z.iso.datetime(),
    tool: z.string().optional(),
    input: z.unknown().optional(),
    questions: z.array(QuestionItem).optional(),
  })
  .meta({ id: 'PendingQuestion' })
export type PendingQuestion = z.infer<typeof PendingQuestion>

export const Attempt = z
  .object({
    id: AttemptId.schema,
    number: z.number().int(),
    state: z.enum(['planned', 'running', 'ended']),
    agentSessionId: z.string().describe("The agent's own id of the session."),
    resumed: z.boolean(),
    freshReason: FreshReason.nullable(),
    carry: Carry,
    agentVersion: z.string().nullable().describe('The version of the agent that was started.'),
    pid: z
      .number()
      .int()
      .nullable()
      .describe("Process id of the keeper, which outlives the daemon. The agent's process is its child."),
    exitCode: z.number().int().nullable(),
    outcome: Outcome.nullable(),
    costUsd: z.number().nullable(),
    cache: CacheUse.nullable().describe(
      'How the attempt used the prompt cache. Set only for resumed attempts that have ended.',
    ),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Attempt', description: 'One try at a run.' })
export type Attempt = z.infer<typeof Attempt>

export const Run = z
  .object({
    id: RunId.schema,
    agent: z.string(),
    model: z.string().nullable(),
    workDir: z.string(),
    prompt: z.string(),
    permissions: PermissionMode,
    state: z.enum(['queued', 'running', 'settled']),
    outcome: OutcomeName.nullable(),
    message: z.string().nullable().describe('Details of the outcome, or why a queued run waits.'),
    resultText: z.string().nullable(),
    sessionId: z
      .string()
      .nullable()
      .describe("The agent's own id of the session. Reprise's id is `session`."),
    session: SessionId.schema
      .nullable()
      .describe("Reprise's id of the session (`ses_…`). Use it to continue the session."),
    resumed: z.boolean().nullable(),
    freshReason: FreshReason.nullable(),
    carry: Carry.nullable(),
    parentRunId: RunId.schema
      .nullable()
      .describe(
        'The run that this one follows: the run of the tier below, or the run that planned the follow-up.',
      ),
    tier: z.number().int().nullable(),
    dryRun: z.boolean(),
    refusals: z
      .number()
      .int()
      .describe('Tool calls and program starts that the rules refused, in the attempts that have ended.'),
    attemptCount: z.number().int(),
    createdAt: z.iso.datetime(),
    startedAt: z.iso.datetime().nullable(),
    endedAt: z.iso.datetime().nullable(),
    notBefore: z.iso.datetime().nullable().describe('A queued run does not start before this time.'),
    paused: z
      .boolean()
      .describe('The run is queued and waits for a person: `POST /api/runs/{id}/continue` starts it.'),
    durationMs: z.number().nullable(),
    usage: Usage,
    costUsd: z.number().nullable(),
    costEstimated: z
      .boolean()
      .describe(
        'Part of the cost was computed by Reprise because a process died before it reported its own.',
      ),
    contextTokens: z.number().nullable().describe("How much of the model's context window the session uses."),
    contextWindow: z.number().nullable(),
    pending: z.array(PendingQuestion),
    promptTokens: z
      .number()
      .nullable()
      .describe('Estimated tokens of the text that was sent, at four characters a token.'),
    transcriptTokens: z.number().nullable().describe('The estimate for a text with the whole history.'),
    leftOut: LeftOut.nullable().describe(
      "The parts of the history that were left out of the newest attempt's prompt because they do not fit into the model's context window; null: none.",
    ),
    conversationId: ConversationId.schema.nullable(),
    turn: z.number().int().nullable().describe('The turn of the conversation that the run answers.'),
    jobId: JobId.schema.nullable(),
    cycleId: CycleId.schema.nullable(),
    followUpId: FollowUpId.schema.nullable().describe('The follow-up whose prompt this run was given.'),
  })
  .meta({
    id: 'Run',
    description: 'One prompt to one agent. Interruptions are followed by further attempts at the same run.',
  })
export type Run = z.infer<typeof Run>

export const RunDetail = Run.extend({
  attempts: z.array(Attempt),
  escalation: Escalation.nullable().describe('The decision after a settled run at a tier.'),
  followUps: z.array(FollowUp).describe('Follow-ups that the run planned, and those that it was given.'),
}).meta({ id: 'RunDetail' })
export type RunDetail = z.infer<typeof RunDetail>

export const ToolResult = z
  .strictObject({
    toolUseId: z.string().min(1).max(256),
    askHash: z
      .string()
      .max(128)
      .optional()
      .describe('As in the pending question. If something else is pending by now, nothing is answered.'),
    answers: z
      .record(z.string(), z.string())
      .optional()
      .describe('The answers by the text of their questions: the chosen label, or any other text.'),
    decision: z.enum(['allow', 'deny']).optional(),
    message: z
      .string()
      .max(10_000)
      .optional()
      .describe('The reason for a denial, which is sent to the agent.'),
  })
  .refine((r) => (r.answers === undefined) !== (r.decision === undefined), {
    error: 'expected either answers (to a question) or decision (to a permission request)',
  })
  .meta({ id: 'ToolResult' })
export type ToolResult = z.infer<typeof ToolResult>
