/** Chats that Reprise owns. The messages are the history; which session an agent uses for it is only a cache. */
import { z } from 'zod'
import { ConversationId, MessageId, RunId, SessionId } from './ids.ts'
import { CreateRun, MaxDurationMs, ModelName, PermissionMode, WorkDir } from './run.ts'

export const ContentBlock = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('tool-use'), toolUseId: z.string(), name: z.string(), input: z.unknown() }),
  z.object({
    type: z.literal('tool-result'),
    toolUseId: z.string(),
    isError: z.boolean(),
    content: z.unknown(),
    /** Characters of the content that the message lacks at its end. The run's events have all of it. */
    clipped: z.number().int().optional(),
  }),
  /** The agent has forgotten all that was said before (`/clear`). */
  z.object({ type: z.literal('memory-cleared') }),
])
export type ContentBlock = z.infer<typeof ContentBlock>

/**
 * `outside`: said in the agent's session, but not through Reprise (by hand, for instance), and taken in later.
 * `outside-branch`: likewise, but on a branch that the conversation's session does not lead through.
 */
export const MessageOrigin = z.enum(['reprise', 'outside', 'outside-branch'])
export type MessageOrigin = z.infer<typeof MessageOrigin>

export const Message = z.object({
  id: MessageId.schema,
  conversationId: ConversationId.schema,
  /** Counts from 1. A turn is what the user said and, once there is one, the answer. */
  turn: z.number().int(),
  role: z.enum(['user', 'assistant']),
  /** Who answered; for a user's message, who was asked. */
  agent: z.string(),
  blocks: z.array(ContentBlock),
  /** `cancelled`, `failed`: what was said until then. */
  state: z.enum(['complete', 'cancelled', 'failed']),
  runId: RunId.schema.nullable(),
  origin: MessageOrigin,
  createdAt: z.iso.datetime(),
  editedAt: z.iso.datetime().nullable(),
})
export type Message = z.infer<typeof Message>

/**
 * What an agent is given of the conversation. `shared`: all of it, attributed. `agent`: what came after the latest
 * answer of another agent.
 */
export const HistoryScope = z.enum(['shared', 'agent'])
export type HistoryScope = z.infer<typeof HistoryScope>

export const ConversationAgent = z.object({
  agent: z.string(),
  /** Counts the changes to the history that this agent was given. */
  epoch: z.number().int(),
  session: SessionId.schema.nullable(),
  /** The last turn its session has seen. */
  seenTurn: z.number().int().nullable(),
  /** The turn in which its memory was cleared: it knows nothing older, and is not given it again. null: it never was. */
  clearedTurn: z.number().int().nullable(),
})

export const Conversation = z.object({
  id: ConversationId.schema,
  title: z.string(),
  agent: z.string(),
  workDir: z.string(),
  instructions: z.string().nullable(),
  historyScope: HistoryScope,
  turnCount: z.number().int(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type Conversation = z.infer<typeof Conversation>

export const ConversationDetail = Conversation.extend({
  agents: z.array(ConversationAgent),
  messages: z.array(Message),
})
export type ConversationDetail = z.infer<typeof ConversationDetail>

/** What it means to move a conversation to another work directory. */
export const ConversationMove = z.object({
  from: z.string(),
  to: z.string(),
  sessions: z.array(
    z.object({
      agent: z.string(),
      session: SessionId.schema,
      /** As far as the directory goes. Otherwise the next turn starts fresh, with the whole conversation. */
      resumes: z.boolean(),
      /** For people. */
      why: z.string(),
    }),
  ),
})
export type ConversationMove = z.infer<typeof ConversationMove>

/** What a change answers with. */
export const UpdatedConversation = ConversationDetail.extend({
  /** If it was moved. */
  move: ConversationMove.optional(),
})
export type UpdatedConversation = z.infer<typeof UpdatedConversation>

const words = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.trim() !== '', { error: 'expected a text that is not empty' })

export const CreateConversation = z.strictObject({
  agent: z.string().max(64).optional(),
  workDir: WorkDir,
  title: words(200).optional(),
  instructions: z.string().max(1_000_000).optional(),
  historyScope: HistoryScope.optional(),
})
export type CreateConversation = z.infer<typeof CreateConversation>

export const UpdateConversation = z.strictObject({
  title: words(200).optional(),
  /** null takes them away. */
  instructions: z.string().max(1_000_000).nullable().optional(),
  /** Moves it: see ConversationMove. */
  workDir: WorkDir.optional(),
})
export type UpdateConversation = z.infer<typeof UpdateConversation>

export const CreateTurn = z.strictObject({
  text: z.string().refine((text) => text.trim() !== '', { error: 'expected a text that is not empty' }),
  agent: z.string().max(64).optional(),
  model: ModelName.optional(),
  forceFreshSession: z.boolean().optional(),
  permissions: PermissionMode.optional(),
  maxDurationMs: MaxDurationMs.optional(),
  maxTurns: CreateRun.shape.maxTurns,
  continue: CreateRun.shape.continue,
  maxTurnsTotal: CreateRun.shape.maxTurnsTotal,
})
export type CreateTurn = z.infer<typeof CreateTurn>

export const RetryTurn = CreateTurn.omit({ text: true })
export type RetryTurn = z.infer<typeof RetryTurn>

export const EditMessage = z.strictObject({ text: words(16_000_000) })
export type EditMessage = z.infer<typeof EditMessage>
