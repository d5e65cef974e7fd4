import { z } from 'zod'
import { SessionId } from './ids.ts'
import { SessionOrigin } from './session-transfer.ts'

/**
 * created: has an id, but nothing ran yet · active: used within the idle time · paused: idle for longer ·
 * expired: too old to resume · poisoned: the agent refused to resume it, or resuming it cannot work.
 */
export const SESSION_STATES = ['created', 'active', 'paused', 'expired', 'poisoned'] as const

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
    state: z.enum(SESSION_STATES),
    poison: z.string().nullable(),
    turns: z.number().int(),
    resumes: z.number().int(),
    contextTokens: z.number().nullable(),
    contextWindow: z.number().nullable(),
    costUsd: z.number(),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime(),
  })
  .meta({
    id: 'Session',
    description: "A session of an agent. `id` is Reprise's id, `agentSessionId` the agent's own.",
  })
export type Session = z.infer<typeof Session>

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
  runIds: z.array(z.string()),
  heldBy: z.string().nullable(),
  origin: SessionOrigin.nullable().describe('null: it did not begin as a copy.'),
}).meta({ id: 'SessionDetail' })
export type SessionDetail = z.infer<typeof SessionDetail>
