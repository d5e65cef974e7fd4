/** Exporting, importing, forking and moving sessions. */
import { z } from 'zod'
import { WorkDir } from './create-run.ts'
import { ConversationId, MessageId, RunId, SessionId } from './ids.ts'

export const ExportSession = z
  .strictObject({
    redact: z
      .boolean()
      .optional()
      .describe(
        'Remove secrets from files and messages. The agent may refuse to resume a session in which its own thoughts were changed; it then continues with the history in a new session.',
      ),
  })
  .meta({ id: 'ExportSession' })
export type ExportSession = z.infer<typeof ExportSession>

export const ImportedSession = z
  .object({
    session: SessionId.schema,
    agentSessionId: z.string(),
    agent: z.string(),
    workDir: z.string(),
    conversation: ConversationId.schema
      .nullable()
      .describe('The conversation that was imported with it; null: the session belonged to none.'),
    turns: z.number().int(),
    files: z.number().int(),
    bytes: z.number().int().describe('The size of the transcript.'),
  })
  .meta({ id: 'ImportedSession' })
export type ImportedSession = z.infer<typeof ImportedSession>

const AgentMessageId = z.string().regex(/^[\w-]{1,128}$/, {
  error: "expected the id of a run like run_01J…, or the agent's own id of a message",
})

export const ForkSession = z
  .strictObject({
    at: z
      .union([RunId.schema, AgentMessageId])
      .optional()
      .describe(
        "The end of the fork: a run, or the agent's own id of a message. A run or a question is kept with its answer; any other message is the last one that is kept. By default the end of the session.",
      ),
  })
  .meta({ id: 'ForkSession' })
export type ForkSession = z.infer<typeof ForkSession>

export const ForkedSession = z
  .object({
    session: SessionId.schema,
    agentSessionId: z.string(),
    from: SessionId.schema,
    workDir: z.string(),
    turns: z.number().int().describe('How many turns it has of the original.'),
    bytes: z.number().int(),
  })
  .meta({ id: 'ForkedSession' })
export type ForkedSession = z.infer<typeof ForkedSession>

export const ForkConversation = z
  .strictObject({
    at: MessageId.schema
      .optional()
      .describe('The last turn of the fork is that of this message. By default all turns are copied.'),
    title: z.string().min(1).max(200).optional(),
  })
  .meta({ id: 'ForkConversation' })
export type ForkConversation = z.infer<typeof ForkConversation>

export const MoveSession = z.strictObject({ workDir: WorkDir }).meta({ id: 'MoveSession' })
export type MoveSession = z.infer<typeof MoveSession>

/** The effect of moving a session to another work directory. */
export const SessionMove = z
  .object({
    session: SessionId.schema,
    from: z.string(),
    to: z.string(),
    same: z.boolean().describe('It is the same directory, which was renamed.'),
    conversation: ConversationId.schema.nullable().describe('The conversation that moves with it.'),
    jobs: z.array(z.string()).describe('The jobs that continue in it, and therefore there.'),
    why: z.string().describe('What it means, for people.'),
  })
  .meta({ id: 'SessionMove' })
export type SessionMove = z.infer<typeof SessionMove>

export const SessionCopy = z
  .object({
    kind: z.enum(['fork', 'import', 'rewind']),
    session: SessionId.schema.nullable().describe('null: it came from another home.'),
    agentSessionId: z.string(),
    messageId: z
      .string()
      .nullable()
      .describe('The message after which it was cut; null: it was copied whole.'),
    costUsd: z
      .number()
      .nullable()
      .describe(
        "What the copied part had cost by the agent's own count. It belongs to the original; the agent's total for this session begins with it.",
      ),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'SessionCopy', description: 'The session that this one began as a copy of.' })
export type SessionCopy = z.infer<typeof SessionCopy>
