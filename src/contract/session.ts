import { z } from 'zod'
import { FollowUp } from './follow-up.ts'
import type { ListSort } from './http.ts'
import { ConversationId, JobId, RunId, SessionId } from './ids.ts'
import { OutcomeName, Usage } from './outcome.ts'
import { SessionCopy } from './session-transfer.ts'

/**
 * created: has an id, but its agent has accepted no message yet · active: in use, or used a moment ago · paused: idle ·
 * completed: the model ended its last turn by itself, and no follow-up is planned in it · expired: idle for longer, and
 * archived. core/session/lifecycle.ts has the transitions. None of these keeps a session from being resumed.
 */
export const SESSION_LIFECYCLE = ['created', 'active', 'paused', 'completed', 'expired'] as const
export type SessionLifecycle = (typeof SESSION_LIFECYCLE)[number]

/** poisoned: the agent refused to resume it, or resuming it cannot work. */
export const SESSION_STATES = [...SESSION_LIFECYCLE, 'poisoned'] as const
export const SessionState = z
  .enum(SESSION_STATES)
  .describe(
    '`created`: nothing was said yet. `active`: in use. `paused`: idle. `completed`: the model ended its last turn by itself and no follow-up is planned. `expired`: idle for longer, and archived. `poisoned`: it cannot be resumed. All others can be, within `resumableUntil`.',
  )
export type SessionState = z.infer<typeof SessionState>

/**
 * The agent's transcript file of a session. missing: there is no file · unreadable: it contains no message · foreign:
 * it belongs to another session · behind: it lacks the last answer, like an older copy · broken: messages in the middle
 * are missing, and therefore all before them · forked: its newest turn was made outside Reprise, on a branch that does
 * not contain Reprise's last turn · torn: the last record is cut off, which can be repaired · present: none of these.
 */
export const TRANSCRIPT_STATES = [
  'present',
  'torn',
  'missing',
  'unreadable',
  'foreign',
  'behind',
  'broken',
  'forked',
] as const
export type TranscriptState = (typeof TRANSCRIPT_STATES)[number]

export const Session = z
  .object({
    id: SessionId.schema,
    agent: z.string(),
    agentSessionId: z
      .string()
      .describe("The agent's own id of the session; runs and jobs show it as `sessionId`."),
    workDir: z.string(),
    runtimeId: z.string(),
    agentVersion: z
      .string()
      .nullable()
      .describe(
        'The version of the agent that wrote to the session last; null if it is not known. An older version does not resume it.',
      ),
    state: SessionState,
    status: SessionState.describe(
      'The same as `state`, under the name that the filter `?status=` and the provider use.',
    ),
    stateSince: z.iso.datetime().nullable().describe('null: not recorded.'),
    origin: z
      .enum(['reprise', 'adopted'])
      .describe('`adopted`: a person had made it without Reprise, and it was taken over.'),
    poison: z.string().nullable(),
    turns: z.number().int(),
    messages: z.number().int().describe('Prompts that the session took, and answers that it gave.'),
    resumes: z.number().int(),
    usage: Usage.describe('The tokens of all attempts in it that have ended.'),
    stopReason: z
      .string()
      .nullable()
      .describe(
        "Why the model stopped last, in the agent's words; the outcome of the last attempt if the agent gave no reason.",
      ),
    contextTokens: z.number().nullable(),
    contextWindow: z.number().nullable(),
    contextFill: z
      .number()
      .nullable()
      .describe('The share of the context window that is used, 0–1; null: not known.'),
    costUsd: z.number(),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().describe('The last activity.'),
    resumableUntil: z.iso.datetime().describe('`lastUsedAt` plus `resume.maxAge`.'),
    archivedAt: z.iso.datetime().nullable(),
    title: z
      .string()
      .nullable()
      .describe('The beginning of the first prompt that it was given; null: none was given by Reprise.'),
  })
  .meta({
    id: 'Session',
    description: "A session of an agent. `id` is Reprise's id, `agentSessionId` the agent's own.",
  })
export type Session = z.infer<typeof Session>

export const SessionRun = z
  .object({
    id: RunId.schema,
    prompt: z.string().describe('Its first 200 characters.'),
    state: z.enum(['queued', 'running', 'settled']),
    outcome: OutcomeName.nullable(),
    jobId: JobId.schema.nullable(),
    conversationId: ConversationId.schema.nullable(),
    contextTokens: z.number().nullable().describe('How much of the context window was used after it.'),
    contextWindow: z.number().nullable(),
    costUsd: z.number().nullable(),
    createdAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'SessionRun', description: 'A run in a session, in short.' })
export type SessionRun = z.infer<typeof SessionRun>

export const SessionDetail = Session.extend({
  transcript: z.object({
    state: z
      .enum([...TRANSCRIPT_STATES, 'unknown'])
      .describe(
        '`unknown`: the agent is not configured any more, so Reprise does not know where its files are.',
      ),
    path: z.string().nullable(),
    bytes: z.number().nullable(),
  }),
  files: z
    .array(z.object({ path: z.string(), bytes: z.number() }))
    .describe("The session's files on disk: its transcript, and those of sub-agents and long tool results."),
  runIds: z.array(z.string()),
  runs: z
    .array(SessionRun)
    .describe('The newest 200 runs, newest first. Their `contextTokens` show how the context filled.'),
  followUps: z.array(FollowUp).describe('The newest 200 follow-ups that are or were to be given to it.'),
  continues: SessionId.schema
    .nullable()
    .describe('The session whose history this one was started with, because that one could not be resumed.'),
  continuedBy: z.array(SessionId.schema).describe('Sessions that were started with the history of this one.'),
  conversationId: ConversationId.schema.nullable().describe('The conversation that uses it.'),
  heldBy: z.string().nullable(),
  copiedFrom: SessionCopy.nullable().describe('null: it did not begin as a copy.'),
}).meta({ id: 'SessionDetail' })
export type SessionDetail = z.infer<typeof SessionDetail>

/** Filters of the list of sessions. */
export interface SessionFilters {
  status?: SessionState | undefined
  agent?: string | undefined
  workDir?: string | undefined
  q?: string | undefined
  sort?: ListSort | undefined
}
