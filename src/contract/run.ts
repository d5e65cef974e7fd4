/** A run as callers see it. The names are part of the public API: fields are added, not renamed. */
import { z } from 'zod'
import { CacheUse } from './cache.ts'
import { PermissionMode } from './create-run.ts'
import { Escalation } from './escalation.ts'
import { FollowUp } from './follow-up.ts'
import { AttemptId, ConversationId, CycleId, FollowUpId, JobId, RunId, SessionId } from './ids.ts'
import { LeftOut } from './left-out.ts'
import { Outcome, OutcomeName, Usage } from './outcome.ts'
import { PendingQuestion } from './question.ts'
import { SANDBOXES } from './sandbox.ts'
import { DIRECTORY_SETTINGS } from './trust.ts'

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
    contextTokens: z
      .number()
      .nullable()
      .describe('How much of the context window was used after it; null: not known.'),
    contextWindow: z.number().nullable(),
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
    sandbox: z
      .enum(SANDBOXES)
      .nullable()
      .describe(
        'What holds the processes of the last attempt. `none` at a tier: its rules are advisory. null: not started.',
      ),
    directorySettings: z
      .enum(DIRECTORY_SETTINGS)
      .nullable()
      .describe(
        'Whether the hooks, servers, permissions and other settings of the work directory apply in the last attempt. `none`: there are none. `ignored`: nobody has trusted them, or the run never uses them. null: not started.',
      ),
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
