import { z } from 'zod'
import { SessionId } from './ids.ts'

/**
 * created: an id is assigned, nothing ran yet · active: used within the idle time · paused: idle longer ·
 * expired: too old to resume · poisoned: the agent refused it, or resuming it cannot work.
 */
export const SESSION_STATES = ['created', 'active', 'paused', 'expired', 'poisoned'] as const

/**
 * The agent's file of a session. missing: there is none · unreadable: no message in it · foreign: another session's ·
 * behind: it lacks the last answer, as an older copy does · broken: messages in the middle are missing, and with them
 * all before · forked: its newest turn is not ours and branched off before our last one · torn: the last record is cut off, which can be mended · present: none of these.
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

export const Session = z.object({
  id: SessionId.schema,
  agent: z.string(),
  /** The agent's own id of it. */
  agentSessionId: z.string(),
  workDir: z.string(),
  runtimeId: z.string(),
  /** The version of the agent that wrote it last; null if that is not known. An older one does not resume it. */
  agentVersion: z.string().nullable(),
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
export type Session = z.infer<typeof Session>

export const SessionDetail = Session.extend({
  transcript: z.object({
    /** unknown: the agent is not configured any more, and with it where its files are. */
    state: z.enum([...TRANSCRIPT_STATES, 'unknown']),
    path: z.string().nullable(),
    bytes: z.number().nullable(),
  }),
  runIds: z.array(z.string()),
  heldBy: z.string().nullable(),
})
export type SessionDetail = z.infer<typeof SessionDetail>
