/** Sessions that people made with the agent's own program, and how Reprise takes them over. */
import { z } from 'zod'
import { ConversationId, SessionId } from './ids.ts'

export const FOUND_STATES = ['adoptable', 'adopted', 'known', 'live', 'unusable'] as const
export const FoundState = z
  .enum(FOUND_STATES)
  .describe(
    '`adopted`: it was taken over just now. `known`: Reprise has it already. `live`: a process has it open (`pid`), and it is left alone. `unusable`: `message` says why.',
  )
export type FoundState = z.infer<typeof FoundState>

export const FoundSession = z
  .object({
    agent: z.string(),
    agentSessionId: z.string().describe("The agent's own id of the session."),
    state: FoundState,
    message: z.string().nullable().describe('Why it was not or cannot be adopted, for people.'),
    firstPrompt: z.string().nullable().describe('The beginning of the first prompt.'),
    workDir: z.string().nullable(),
    path: z.string().nullable(),
    bytes: z.number(),
    startedAt: z.iso.datetime().nullable(),
    modifiedAt: z.iso.datetime().nullable().describe('When its file was last written.'),
    pid: z.number().int().nullable().describe('The process that has it open.'),
    session: SessionId.schema.nullable().describe("Reprise's id of it, if it is adopted or known."),
    conversationId: ConversationId.schema
      .nullable()
      .describe('The conversation that continues it: `POST /api/conversations/{id}/turns`.'),
    turns: z.number().int().nullable().describe('How many turns were imported just now.'),
  })
  .meta({ id: 'FoundSession', description: "A session in the agent's own files." })
export type FoundSession = z.infer<typeof FoundSession>

const MAX_IDS = 1000

export const AdoptSessions = z
  .strictObject({
    agent: z.string().max(64).optional().describe('Default: the default agent.'),
    ids: z.array(z.string().min(1).max(200)).min(1).max(MAX_IDS).optional(),
    workDir: z.string().max(4096).optional().describe('All sessions of this directory.'),
    all: z.literal(true).optional(),
  })
  .refine(
    ({ ids, workDir, all }) => [ids, workDir, all].filter((chosen) => chosen !== undefined).length === 1,
    { error: 'expected one of ids, workDir and all' },
  )
  .meta({ id: 'AdoptSessions' })
export type AdoptSessions = z.infer<typeof AdoptSessions>

/** Filters of the list of sessions that could be adopted. */
export interface AdoptableQuery {
  agent?: string | undefined
  workDir?: string | undefined
}
