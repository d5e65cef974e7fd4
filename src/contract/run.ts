/** A run as callers see it. The names are part of the public surface: extend, do not rename. */
import { z } from 'zod'
import { CacheUse } from './cache.ts'
import { Escalation } from './escalation.ts'
import { QuestionItem } from './events.ts'
import { FollowUp } from './follow-up.ts'
import { AttemptId, ConversationId, CycleId, FollowUpId, JobId, RunId, SessionId, SessionRef } from './ids.ts'
import { LeftOut } from './left-out.ts'
import { Outcome, OutcomeName, Usage } from './outcome.ts'

export const PERMISSION_MODES = ['ask-all', 'ask', 'edits', 'allow'] as const
/**
 * Who decides when the agent wants to use a tool. `ask-all`: a person, for every tool call. `ask`: a person, where
 * the agent would ask. `edits`: as `ask`, but file edits in the work directory are allowed. `allow`: everything is.
 */
export const PermissionMode = z.enum(PERMISSION_MODES)
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
export const FreshReason = z.enum(FRESH_REASONS)
export type FreshReason = z.infer<typeof FreshReason>

export const CARRIES = ['none', 'transcript', 'handoff'] as const
export const Carry = z.enum(CARRIES)
export type Carry = z.infer<typeof Carry>

export const ModelName = z.string().regex(/^[A-Za-z0-9][\w.:@/[\]-]{0,127}$/, {
  error: 'expected a model name: letters, digits and . : @ / [ ] - _',
})

/** Up to 24 days: what a timer can hold. */
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

export const CreateRun = z.strictObject({
  prompt: z.string().refine((p) => p.trim() !== '', { error: 'expected a prompt that is not empty' }),
  agent: z.string().max(64).optional(),
  model: ModelName.optional(),
  workDir: WorkDir,
  /** Continue this session, if that is safe. */
  sessionId: SessionRef.optional(),
  forceFreshSession: z.boolean().optional(),
  permissions: PermissionMode.optional(),
  maxDurationMs: MaxDurationMs.optional(),
  maxResumes: z.number().int().min(0).max(100).optional(),
  /** Of one attempt. */
  maxTurns: z.number().int().min(1).max(10_000).optional(),
  /** Go on by itself when `maxTurns` is reached, in the same session, up to `maxTurnsTotal` (10 times `maxTurns`). */
  continue: z.boolean().optional(),
  maxTurnsTotal: z.number().int().min(1).max(100_000).optional(),
  /** With `tier`: of the whole chain. */
  maxBudgetUsd: z.number().positive().max(1_000_000).optional(),
  /** Work at this tier, and escalate from there. */
  tier: TierNumber.optional(),
  /** With `tier`: the highest the chain may reach. */
  maxTier: TierNumber.optional(),
  /** With a `tier` that needs approval: it is given herewith. */
  approved: z.boolean().optional(),
  /** Refuse whatever would change something. */
  dryRun: z.boolean().optional(),
  /** With `tier`: about the place, for whoever starts fresh there. */
  environment: z.string().max(200_000).optional(),
})
export type CreateRun = z.infer<typeof CreateRun>

export const PendingQuestion = z.object({
  toolUseId: z.string(),
  kind: z.enum(['question', 'permission']),
  /** Of exactly what is asked: an answer that names it applies to nothing else. */
  askHash: z.string(),
  askedAt: z.iso.datetime(),
  tool: z.string().optional(),
  input: z.unknown().optional(),
  questions: z.array(QuestionItem).optional(),
})
export type PendingQuestion = z.infer<typeof PendingQuestion>

export const Attempt = z.object({
  id: AttemptId.schema,
  number: z.number().int(),
  state: z.enum(['planned', 'running', 'ended']),
  agentSessionId: z.string(),
  resumed: z.boolean(),
  freshReason: FreshReason.nullable(),
  carry: Carry,
  /** The version of the agent that was started. */
  agentVersion: z.string().nullable(),
  pid: z.number().int().nullable(),
  exitCode: z.number().int().nullable(),
  outcome: Outcome.nullable(),
  costUsd: z.number().nullable(),
  /** Of a resumed one that has ended: how it used the prompt cache, and what it should have found there. */
  cache: CacheUse.nullable(),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime().nullable(),
})
export type Attempt = z.infer<typeof Attempt>

export const Run = z.object({
  id: RunId.schema,
  agent: z.string(),
  model: z.string().nullable(),
  workDir: z.string(),
  prompt: z.string(),
  permissions: PermissionMode,
  state: z.enum(['queued', 'running', 'settled']),
  outcome: OutcomeName.nullable(),
  /** What is to be said about the outcome, or about why a queued run waits. */
  message: z.string().nullable(),
  resultText: z.string().nullable(),
  /** The agent's own id of the session. */
  sessionId: z.string().nullable(),
  /** Our id of the session, to continue it with. */
  session: SessionId.schema.nullable(),
  resumed: z.boolean().nullable(),
  freshReason: FreshReason.nullable(),
  carry: Carry.nullable(),
  parentRunId: RunId.schema.nullable(),
  tier: z.number().int().nullable(),
  dryRun: z.boolean(),
  /** Tool calls and starts of programs that the rules forbade, in the attempts that have ended. */
  refusals: z.number().int(),
  attemptCount: z.number().int(),
  createdAt: z.iso.datetime(),
  startedAt: z.iso.datetime().nullable(),
  endedAt: z.iso.datetime().nullable(),
  notBefore: z.iso.datetime().nullable(),
  /** Queued, but left to a person: `POST /api/runs/{id}/continue` makes it go on. */
  paused: z.boolean(),
  durationMs: z.number().nullable(),
  usage: Usage,
  costUsd: z.number().nullable(),
  /** Part of the cost was computed by us because a process died before it could report it. */
  costEstimated: z.boolean(),
  contextTokens: z.number().nullable(),
  contextWindow: z.number().nullable(),
  pending: z.array(PendingQuestion),
  /** Of the text that was sent, and of what it would have been with the whole history; four characters a token. */
  promptTokens: z.number().nullable(),
  transcriptTokens: z.number().nullable(),
  /** What of the past the newest attempt was not given, because it does not fit the model's window. null: nothing. */
  leftOut: LeftOut.nullable(),
  conversationId: ConversationId.schema.nullable(),
  /** Which turn of the conversation it answers. */
  turn: z.number().int().nullable(),
  jobId: JobId.schema.nullable(),
  cycleId: CycleId.schema.nullable(),
  /** The follow-up whose prompt it has. */
  followUpId: FollowUpId.schema.nullable(),
})
export type Run = z.infer<typeof Run>

export const RunDetail = Run.extend({
  attempts: z.array(Attempt),
  /** Of a settled run at a tier: what followed. */
  escalation: Escalation.nullable(),
  /** What it planned, and what was given to it. */
  followUps: z.array(FollowUp),
})
export type RunDetail = z.infer<typeof RunDetail>

export const ToolResult = z
  .strictObject({
    toolUseId: z.string().min(1).max(256),
    /** As in the pending question. If what stands is something else by now, nothing is answered. */
    askHash: z.string().max(128).optional(),
    /** By question text: the label chosen, or text of one's own. */
    answers: z.record(z.string(), z.string()).optional(),
    decision: z.enum(['allow', 'deny']).optional(),
    /** Told to the agent with a refusal. */
    message: z.string().max(10_000).optional(),
  })
  .refine((r) => (r.answers === undefined) !== (r.decision === undefined), {
    error: 'expected either answers (to a question) or decision (to a permission request)',
  })
export type ToolResult = z.infer<typeof ToolResult>
