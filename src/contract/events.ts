/**
 * The neutral vocabulary. Whatever an agent prints becomes one of these; what we have no word for is kept under
 * `native` (JSON we do not know) or `raw-line` (not JSON), never dropped. A run's events are numbered from 1
 * without holes, and the last one is always `run-end`.
 */
import { z } from 'zod'
import { AttemptId, RunId } from './ids.ts'
import { LeftOut } from './left-out.ts'
import { Outcome, Usage } from './outcome.ts'

const kind = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape })

/** Set on what a sub-agent said or did: the tool call that started it. */
const parent = { parentToolUseId: z.string().optional() }

export const QuestionOption = z.object({ label: z.string(), description: z.string().optional() })
export const QuestionItem = z.object({
  question: z.string(),
  header: z.string().optional(),
  multiSelect: z.boolean().optional(),
  options: z.array(QuestionOption),
})
export type QuestionItem = z.infer<typeof QuestionItem>

export const EventBody = z.discriminatedUnion('type', [
  kind('attempt-start', {
    number: z.number().int(),
    agentSessionId: z.string(),
    resumed: z.boolean(),
    freshReason: z.string().optional(),
    carry: z.string(),
    agentVersion: z.string().optional(),
    /** It only compacts the session; what is printed meanwhile is no answer. */
    makesRoom: z.literal(true).optional(),
  }),
  /** What of the past the agent was not given with its prompt, because it does not fit the model's window. */
  kind('left-out', LeftOut.shape),
  kind('session-start', {
    agentSessionId: z.string(),
    model: z.string().optional(),
    version: z.string().optional(),
    tools: z.array(z.string()).optional(),
  }),
  /** The agent took a message of ours from its input; `messageId` is the one we gave it. */
  kind('prompt-accept', { messageId: z.string() }),
  kind('text-delta', { text: z.string(), ...parent }),
  kind('thinking-delta', { text: z.string(), ...parent }),
  /** A piece of the JSON of a tool call's input, as it is being written. */
  kind('tool-input-delta', { text: z.string(), ...parent }),
  kind('thinking-end', { text: z.string(), ...parent }),
  kind('text-end', { text: z.string(), messageId: z.string().optional(), ...parent }),
  kind('tool-start', { toolUseId: z.string(), name: z.string(), input: z.unknown(), ...parent }),
  kind('tool-end', { toolUseId: z.string(), isError: z.boolean(), content: z.unknown(), ...parent }),
  kind('question-ask', { requestId: z.string(), toolUseId: z.string(), questions: z.array(QuestionItem) }),
  kind('permission-ask', {
    requestId: z.string(),
    toolUseId: z.string(),
    tool: z.string(),
    input: z.unknown(),
    via: z.enum(['prompt', 'hook']),
    /** Where it would work. */
    workDir: z.string().optional(),
  }),
  kind('question-answer', {
    toolUseId: z.string(),
    decision: z.enum(['allow', 'deny', 'answer']),
    by: z.enum(['person', 'policy']),
    reason: z.string().optional(),
  }),
  /** The rules forbade a tool call, or the start of a program; the agent was told why. */
  kind('refusal', {
    toolUseId: z.string().optional(),
    tool: z.string(),
    what: z.string(),
    rule: z.string().optional(),
    reason: z.string(),
    dryRun: z.boolean().optional(),
  }),
  /** The agent used its scheduling tools, and Reprise did in their place what they were asked for. */
  kind('follow-up', {
    toolUseId: z.string(),
    action: z.enum(['planned', 'listed', 'cancelled']),
    followUpId: z.string().optional(),
    dueAt: z.iso.datetime().optional(),
    message: z.string(),
  }),
  /** A program that is watched for was really started; its guard asked. */
  kind('program-start', { program: z.string(), what: z.string(), workDir: z.string() }),
  /** The agent withdrew what it had asked. */
  kind('question-cancel', { requestId: z.string() }),
  /** The agent has made a request to the model. It is answered when a `model-call` follows. */
  kind('model-request', {}),
  /** What one call to the model used so far. Figures of a later one with the same `messageId` replace earlier ones. */
  kind('model-call', {
    messageId: z.string(),
    model: z.string().optional(),
    usage: Usage.partial(),
    /** How long what it wrote to the prompt cache is kept there. */
    cacheTtlMs: z.number().optional(),
    ...parent,
  }),
  kind('retry-wait', {
    number: z.number().int(),
    maxRetries: z.number().int().optional(),
    delayMs: z.number().optional(),
    apiStatus: z.number().int().optional(),
    message: z.string().optional(),
  }),
  /** `status`: `allowed`, `allowed_warning` or `rejected`; only with the last one there is something to wait for. */
  kind('rate-limit', {
    status: z.string(),
    resetsAt: z.iso.datetime().optional(),
    /** The vendor's name for the limit, and whether it is about everything or about one model. */
    limit: z.string().optional(),
    scope: z.enum(['account', 'model']).optional(),
    /** How much of each limit is used, from 0 to 1. */
    windows: z
      .array(z.object({ name: z.string(), used: z.number(), resetsAt: z.iso.datetime().optional() }))
      .optional(),
  }),
  kind('compaction', { preTokens: z.number().optional(), postTokens: z.number().optional() }),
  /** The agent has forgotten all that was said before (`/clear`). */
  kind('memory-clear', {}),
  /** How many sub-agents work in the background now. */
  kind('background', { tasks: z.number().int() }),
  /** The agent says its turn is over. `outcome` is its own word for it; the attempt's is in `attempt-end`. */
  kind('turn-end', {
    outcome: Outcome,
    text: z.string().optional(),
    structured: z.unknown().optional(),
    turns: z.number().int().optional(),
    usage: Usage.optional(),
    /** What this process spent since its last `turn-end`, by model. */
    models: z
      .array(
        z.object({
          model: z.string(),
          usage: Usage,
          costUsd: z.number(),
          contextWindow: z.number().optional(),
        }),
      )
      .optional(),
    permissionDenials: z.number().int().optional(),
  }),
  kind('native', { name: z.string(), line: z.unknown() }),
  kind('raw-line', { text: z.string() }),
  /** Bytes `from`–`to` of the attempt's output are not represented by events; they are still in its spool. */
  kind('gap', {
    from: z.number(),
    to: z.number(),
    reason: z.enum(['line-too-long', 'spool-missing', 'parser-failed', 'not-read']),
  }),
  /** What the agent's program says itself, not the model: an API error in words, for instance. */
  kind('notice', { text: z.string() }),
  /** Reprise's own words. */
  kind('note', { text: z.string() }),
  kind('stop-request', { cause: z.string(), message: z.string() }),
  kind('attempt-end', {
    number: z.number().int(),
    outcome: Outcome,
    exitCode: z.number().int().nullable(),
    /** Processes the agent left behind that had to be ended. */
    strays: z.number().int(),
  }),
  kind('run-end', { outcome: Outcome }),
])
export type EventBody = z.infer<typeof EventBody>
export type EventType = EventBody['type']
export type EventOf<T extends EventType> = Extract<EventBody, { type: T }>

export const EventEnvelope = z.object({
  runId: RunId.schema,
  seq: z.number().int().positive(),
  attemptId: AttemptId.schema.nullable(),
  at: z.iso.datetime(),
})
export type RunEvent = z.infer<typeof EventEnvelope> & EventBody
