/**
 * The events of a run, in the same vocabulary for every agent. Output for which there is no event is kept as `native`
 * (JSON of an unknown kind) or `raw-line` (not JSON), never dropped. A run's events are numbered from 1 without gaps,
 * and the last one is always `run-end`.
 */
import { z } from 'zod'
import { AttemptId, RunId } from './ids.ts'
import { LeftOut } from './left-out.ts'
import { Outcome, Usage } from './outcome.ts'
import { SANDBOXES } from './sandbox.ts'
import { ToolDescription } from './tool.ts'

const kind = <T extends string, S extends z.ZodRawShape>(type: T, shape: S) =>
  z.object({ type: z.literal(type), ...shape })

const parent = {
  parentToolUseId: z.string().optional().describe('Set for a sub-agent: the tool call that started it.'),
}

/** What the tool does, whatever the agent calls it. Events that were stored by earlier versions lack it. */
const described = ToolDescription.partial().shape

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
    sandbox: z.enum(SANDBOXES).optional(),
    kept: z
      .literal(true)
      .optional()
      .describe('The turn was given to a process that waited for it; no process was started.'),
    makesRoom: z
      .literal(true)
      .optional()
      .describe('The attempt only compacts the session; its output is not an answer.'),
  }),
  kind('left-out', LeftOut.shape).describe(
    "The parts of the history that were left out of the prompt because they do not fit into the model's context window.",
  ),
  kind('context-add', { texts: z.array(z.string()) }).describe(
    'What Reprise told the agent besides the prompt: the instructions of a tier, the handoff of the tiers before it, what was said before, what interrupted the last attempt. Very long texts are cut off.',
  ),
  kind('session-start', {
    agentSessionId: z.string(),
    model: z.string().optional(),
    version: z.string().optional(),
    tools: z.array(z.string()).optional(),
  }),
  kind('prompt-accept', { messageId: z.string() }).describe(
    'The agent took a message of Reprise from its input; `messageId` is the id that Reprise gave it.',
  ),
  kind('text-delta', { text: z.string(), ...parent }),
  kind('thinking-delta', { text: z.string(), ...parent }),
  kind('tool-input-delta', { text: z.string(), ...parent }).describe(
    "A piece of the JSON of a tool call's input, while it is being written.",
  ),
  kind('thinking-end', { text: z.string(), ...parent }),
  kind('text-end', { text: z.string(), messageId: z.string().optional(), ...parent }),
  kind('tool-start', {
    toolUseId: z.string(),
    name: z.string(),
    input: z.unknown(),
    ...described,
    ...parent,
  }),
  kind('tool-end', { toolUseId: z.string(), isError: z.boolean(), content: z.unknown(), ...parent }),
  kind('question-ask', { requestId: z.string(), toolUseId: z.string(), questions: z.array(QuestionItem) }),
  kind('permission-ask', {
    requestId: z.string(),
    toolUseId: z.string(),
    tool: z.string(),
    input: z.unknown(),
    via: z.enum(['prompt', 'hook']),
    workDir: z.string().optional().describe('The directory in which the tool would run.'),
    ...described,
  }),
  kind('question-answer', {
    toolUseId: z.string(),
    decision: z.enum(['allow', 'deny', 'answer']),
    by: z.enum(['person', 'policy']),
    reason: z.string().optional(),
  }),
  kind('message', { messageId: z.string(), text: z.string(), from: z.string().optional() }).describe(
    'The agent has read a message that it was sent while it worked; `from` says who sent it, if it was not the user.',
  ),
  kind('refusal', {
    toolUseId: z.string().optional(),
    tool: z.string(),
    what: z.string(),
    rule: z.string().optional(),
    reason: z.string(),
    dryRun: z.boolean().optional(),
  }).describe('The rules refused a tool call or the start of a program; the agent was told why.'),
  kind('follow-up', {
    toolUseId: z.string(),
    action: z.enum(['planned', 'listed', 'cancelled']),
    followUpId: z.string().optional(),
    dueAt: z.iso.datetime().optional(),
    message: z.string(),
  }).describe('The agent used its scheduling tools, and Reprise carried out the request in their place.'),
  kind('program-start', { program: z.string(), what: z.string(), workDir: z.string() }).describe(
    'The broker allowed a program that acts on the world, and starts it outside the sandbox.',
  ),
  kind('program-end', {
    program: z.string(),
    what: z.string(),
    exitCode: z.number().int().nullable().describe('null: it was not started, or its outcome is unknown.'),
    message: z.string().optional(),
    durationMs: z.number().optional(),
  }).describe('A program that the broker started has ended.'),
  kind('question-cancel', { requestId: z.string() }).describe('The agent withdrew a question.'),
  kind('model-request', {}).describe(
    'The agent has sent a request to the model. It is answered when a `model-call` follows.',
  ),
  kind('model-call', {
    messageId: z.string(),
    model: z.string().optional(),
    usage: Usage.partial(),
    cacheTtlMs: z.number().optional().describe('How long the prompt cache keeps what the call wrote.'),
    ...parent,
  }).describe(
    'What one call to the model has used so far. A later one with the same `messageId` replaces it.',
  ),
  kind('retry-wait', {
    number: z.number().int(),
    maxRetries: z.number().int().optional(),
    delayMs: z.number().optional(),
    apiStatus: z.number().int().optional(),
    why: z
      .enum(['auth', 'rate-limited', 'outage'])
      .optional()
      .describe('Why the request failed. Absent: none of these causes, so waiting may not help.'),
    message: z.string().optional(),
  }),
  kind('rate-limit', {
    status: z.string(),
    resetsAt: z.iso.datetime().optional(),
    limit: z.string().optional().describe("The vendor's name for the limit."),
    scope: z.enum(['account', 'model']).optional(),
    windows: z
      .array(z.object({ name: z.string(), used: z.number(), resetsAt: z.iso.datetime().optional() }))
      .optional()
      .describe('How much of each limit is used, between 0 and 1.'),
  }).describe('`status` is `allowed`, `allowed_warning` or `rejected`; only the last one means a wait.'),
  kind('compaction', { preTokens: z.number().optional(), postTokens: z.number().optional() }),
  kind('reminder-ask', {
    requestId: z.string(),
    subAgent: z.literal(true).optional().describe('A sub-agent compacted its own context.'),
  }).describe(
    'The agent has compacted its session in the middle of a turn, and goes on when Reprise has answered.',
  ),
  kind('reminder', { requestId: z.string(), whole: z.boolean() }).describe(
    'The agent was told its instructions and its task again. Not `whole`: the task was shortened, and follows with the next message.',
  ),
  kind('memory-clear', {}).describe('The agent has forgotten all that was said before (`/clear`).'),
  kind('background', {
    tasks: z.number().int(),
    others: z.number().int().optional().describe('How many other background tasks, such as shells, run now.'),
  }).describe('How many sub-agents work in the background now.'),
  kind('turn-end', {
    outcome: Outcome,
    text: z.string().optional(),
    structured: z.unknown().optional(),
    turns: z.number().int().optional(),
    stopReason: z.string().optional().describe("Why the model stopped, in the agent's words."),
    cutOff: z
      .literal(true)
      .optional()
      .describe('The model did not end its answer by itself: it reached its output limit, for instance.'),
    usage: Usage.optional(),
    models: z
      .array(
        z.object({
          model: z.string(),
          usage: Usage,
          costUsd: z.number(),
          contextWindow: z.number().optional(),
        }),
      )
      .optional()
      .describe('What the process spent since its last `turn-end`, by model.'),
    permissionDenials: z.number().int().optional(),
  }).describe(
    "The agent says that its turn is over. `outcome` is the agent's own; that of the attempt is in `attempt-end`.",
  ),
  kind('native', { name: z.string(), line: z.unknown() }),
  kind('raw-line', { text: z.string() }),
  kind('gap', {
    from: z.number(),
    to: z.number(),
    reason: z.enum(['line-too-long', 'spool-missing', 'parser-failed', 'not-read', 'disk-full']),
  }).describe(
    "Bytes `from` to `to` of the attempt's output have no events; they are still in its spool. `disk-full`: output after `from` may be lost, because the agent could not write it.",
  ),
  kind('notice', { text: z.string() }).describe(
    "A message of the agent's program, not of the model: an API error, for instance.",
  ),
  kind('note', { text: z.string() }).describe('A message of Reprise.'),
  kind('stop-request', { cause: z.string(), message: z.string() }),
  kind('attempt-end', {
    number: z.number().int(),
    outcome: Outcome,
    exitCode: z.number().int().nullable(),
    strays: z.number().int().describe('Processes that the agent left behind and that had to be ended.'),
  }),
  kind('run-end', { outcome: Outcome }),
])
export type EventBody = z.infer<typeof EventBody>
export type EventType = EventBody['type']
export type EventOf<T extends EventType> = Extract<EventBody, { type: T }>

export const EventEnvelope = z.object({
  runId: RunId.schema,
  seq: z.number().int().positive().describe('Counts from 1 within the run, without gaps.'),
  attemptId: AttemptId.schema.nullable(),
  at: z.iso.datetime(),
})
export const RunEvent = z
  .intersection(EventEnvelope, EventBody)
  .meta({ id: 'RunEvent', description: 'One event of a run; `type` says which. The last one is `run-end`.' })
export type RunEvent = z.infer<typeof EventEnvelope> & EventBody
