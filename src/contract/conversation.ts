/** Chats that Reprise owns. The messages are the history; which session an agent uses for it is only a cache. */
import { z } from 'zod'
import { CreateRun, MaxDurationMs, ModelName, PermissionMode, WorkDir } from './create-run.ts'
import { ConversationId, MessageId, RunId, SessionId } from './ids.ts'
import { ToolDescription } from './tool.ts'

export const ContentBlock = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({
      type: z.literal('tool-use'),
      toolUseId: z.string(),
      name: z.string(),
      input: z.unknown(),
      // Messages that were stored by earlier versions lack these.
      ...ToolDescription.pick({ kind: true, questions: true }).partial().shape,
    }),
    z.object({
      type: z.literal('tool-result'),
      toolUseId: z.string(),
      isError: z.boolean(),
      content: z.unknown(),
      clipped: z
        .number()
        .int()
        .optional()
        .describe(
          'How many characters of the content are cut off at the end. The events of the run have all of it.',
        ),
    }),
    z
      .object({ type: z.literal('memory-cleared') })
      .describe('The agent has forgotten all that was said before (`/clear`).'),
  ])
  .meta({ id: 'ContentBlock' })
export type ContentBlock = z.infer<typeof ContentBlock>

export const MessageOrigin = z
  .enum(['reprise', 'outside', 'outside-branch'])
  .describe(
    "`outside`: said in the agent's session, but not through Reprise (by hand, for instance), and added later. `outside-branch`: likewise, but on a branch that the conversation's session does not include.",
  )
export type MessageOrigin = z.infer<typeof MessageOrigin>

export const Message = z
  .object({
    id: MessageId.schema,
    conversationId: ConversationId.schema,
    turn: z
      .number()
      .int()
      .describe('Counts from 1. A turn is a message of the user and, once there is one, the answer.'),
    role: z.enum(['user', 'assistant']),
    agent: z
      .string()
      .describe('The agent that answered; for a message of the user, the agent that was asked.'),
    blocks: z.array(ContentBlock),
    state: z
      .enum(['complete', 'cancelled', 'failed'])
      .describe('`cancelled` and `failed`: the message contains what was said until then.'),
    runId: RunId.schema.nullable(),
    origin: MessageOrigin,
    createdAt: z.iso.datetime(),
    editedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Message' })
export type Message = z.infer<typeof Message>

export const HistoryScope = z
  .enum(['shared', 'agent'])
  .describe(
    'What an agent is given of the conversation. `shared`: all of it, with the names of the agents. `agent`: what came after the latest answer of another agent.',
  )
export type HistoryScope = z.infer<typeof HistoryScope>

export const ConversationAgent = z.object({
  agent: z.string(),
  epoch: z.number().int().describe('Counts the changes to the history that this agent was given.'),
  session: SessionId.schema.nullable(),
  seenTurn: z.number().int().nullable().describe('The last turn that its session has seen.'),
  clearedTurn: z
    .number()
    .int()
    .nullable()
    .describe(
      'The turn in which its memory was cleared: it knows nothing older and is not given older turns again; null: its memory was never cleared.',
    ),
})

export const Conversation = z
  .object({
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
  .meta({
    id: 'Conversation',
    description: 'A chat. Its messages are the history; which session an agent uses for it is only a cache.',
  })
export type Conversation = z.infer<typeof Conversation>

export const ConversationDetail = Conversation.extend({
  agents: z.array(ConversationAgent),
  messages: z.array(Message),
}).meta({ id: 'ConversationDetail' })
export type ConversationDetail = z.infer<typeof ConversationDetail>

/** The effect of moving a conversation to another work directory. */
export const ConversationMove = z
  .object({
    from: z.string(),
    to: z.string(),
    sessions: z.array(
      z.object({
        agent: z.string(),
        session: SessionId.schema,
        resumes: z
          .boolean()
          .describe(
            'Whether the directory allows the session to be resumed. If not, the next turn starts a new session with the whole conversation.',
          ),
        why: z.string().describe('The reason, for people.'),
      }),
    ),
  })
  .meta({ id: 'ConversationMove' })
export type ConversationMove = z.infer<typeof ConversationMove>

/** The response to a change. */
export const UpdatedConversation = ConversationDetail.extend({
  move: ConversationMove.optional().describe('Set if the conversation was moved.'),
}).meta({ id: 'UpdatedConversation' })
export type UpdatedConversation = z.infer<typeof UpdatedConversation>

const nonEmptyText = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => text.trim() !== '', { error: 'expected a text that is not empty' })

export const CreateConversation = z
  .strictObject({
    agent: z.string().max(64).optional(),
    workDir: WorkDir,
    title: nonEmptyText(200).optional(),
    instructions: z.string().max(1_000_000).optional(),
    historyScope: HistoryScope.optional(),
  })
  .meta({ id: 'CreateConversation' })
export type CreateConversation = z.infer<typeof CreateConversation>

export const UpdateConversation = z
  .strictObject({
    title: nonEmptyText(200).optional(),
    instructions: z.string().max(1_000_000).nullable().optional().describe('null removes them.'),
    workDir: WorkDir.optional().describe('Moves the conversation to this directory.'),
  })
  .meta({ id: 'UpdateConversation' })
export type UpdateConversation = z.infer<typeof UpdateConversation>

export const CreateTurn = z
  .strictObject({
    text: z.string().refine((text) => text.trim() !== '', { error: 'expected a text that is not empty' }),
    agent: z.string().max(64).optional(),
    model: ModelName.optional(),
    forceFreshSession: z.boolean().optional(),
    permissions: PermissionMode.optional(),
    sandbox: CreateRun.shape.sandbox,
    maxDurationMs: MaxDurationMs.optional(),
    maxTurns: CreateRun.shape.maxTurns,
    continue: CreateRun.shape.continue,
    maxTurnsTotal: CreateRun.shape.maxTurnsTotal,
  })
  .meta({ id: 'CreateTurn' })
export type CreateTurn = z.infer<typeof CreateTurn>

export const RetryTurn = CreateTurn.omit({ text: true }).meta({ id: 'RetryTurn' })
export type RetryTurn = z.infer<typeof RetryTurn>

export const WarmTurn = z
  .object({
    warm: z.boolean().describe('A process of the agent waits for the turn.'),
    why: z.string().optional().describe('Why there is none.'),
  })
  .meta({ id: 'WarmTurn' })
export type WarmTurn = z.infer<typeof WarmTurn>

export const EditMessage = z.strictObject({ text: nonEmptyText(16_000_000) }).meta({ id: 'EditMessage' })
export type EditMessage = z.infer<typeof EditMessage>
