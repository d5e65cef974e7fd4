import { z } from 'zod'
import {
  Conversation,
  ConversationDetail,
  ConversationMove,
  CreateConversation,
  CreateTurn,
  EditMessage,
  Message,
  RetryTurn,
  UpdateConversation,
  UpdatedConversation,
  WarmTurn,
} from '../conversation.ts'
import { WorkDir } from '../create-run.ts'
import { ListSort, page, SearchText } from '../http.ts'
import { TurnPlan } from '../overview.ts'
import { Run } from '../run.ts'
import { ForkConversation } from '../session-transfer.ts'
import { ConversationPath, IdempotencyHeaders, MessagePath, PageQuery, YesOrNo } from './parameters.ts'
import { empty, type FeatureRoutes, json } from './route.ts'

const AcceptedTurn = z.object({ run: Run })
const turnResponses = {
  202: json('The question is stored and this run will answer it', AcceptedTurn),
  200: json('This Idempotency-Key was used before: the earlier run', AcceptedTurn),
}
const turnErrors = [
  'not-found',
  'conflict',
  'agent-unknown',
  'agent-unavailable',
  'work-dir-unusable',
] as const

export const conversationRoutes = {
  createConversation: {
    tag: 'conversations',
    summary: 'Creates a conversation',
    body: CreateConversation,
    responses: { 201: json('The conversation, without turns', Conversation) },
    errors: ['agent-unknown', 'work-dir-unusable', 'home-unusable'],
  },
  listConversations: {
    tag: 'conversations',
    summary: 'Lists conversations, newest first',
    query: PageQuery.extend({
      q: SearchText.optional().describe(
        'Only conversations with these words in their title, directory, agent or id.',
      ),
      sort: ListSort.optional(),
    }),
    responses: { 200: json('One page', page(Conversation)) },
  },
  getConversation: {
    tag: 'conversations',
    summary: "Returns one conversation with its messages and each agent's position in it",
    params: ConversationPath,
    responses: { 200: json('The conversation', ConversationDetail) },
    errors: ['not-found'],
  },
  updateConversation: {
    tag: 'conversations',
    summary: 'Changes the title or the instructions, or moves the conversation to another directory',
    params: ConversationPath,
    body: UpdateConversation,
    responses: {
      200: json('The conversation; if it was moved, with the effect on its sessions', UpdatedConversation),
    },
    errors: ['not-found', 'conflict', 'work-dir-unusable'],
  },
  planMove: {
    tag: 'conversations',
    summary: 'Says what a move to another directory would mean for the sessions; changes nothing',
    params: ConversationPath,
    query: z.strictObject({ workDir: WorkDir }),
    responses: { 200: json('The effect of the move', ConversationMove) },
    errors: ['not-found', 'work-dir-unusable'],
  },
  planTurn: {
    tag: 'conversations',
    summary:
      'Says what would happen if a message were sent now: resume or start fresh, and why; changes nothing',
    params: ConversationPath,
    query: z.strictObject({
      agent: z.string().max(64).optional(),
      forceFreshSession: YesOrNo.optional(),
    }),
    responses: { 200: json('The plan', TurnPlan) },
    errors: ['not-found', 'agent-unknown'],
  },
  warmConversation: {
    tag: 'conversations',
    summary: 'Starts the agent ahead of a turn that is about to be sent',
    description:
      'For programs in which somebody begins to write. The body says with which agent, model and permissions the turn will be sent. If the turn would resume a session, a process that has resumed it waits for `conversations.keepWarm`. Calling this again, or never, changes nothing but the time that the turn takes.',
    params: ConversationPath,
    body: RetryTurn,
    bodyOptional: true,
    responses: { 200: json('Whether a process waits now', WarmTurn) },
    errors: ['not-found', 'agent-unknown', 'agent-unavailable', 'work-dir-unusable'],
  },
  deleteConversation: {
    tag: 'conversations',
    summary: 'Deletes a conversation and the sessions that only it used',
    description:
      'Its open runs are cancelled. Its runs and their events are deleted within the next hour; totals stay.',
    params: ConversationPath,
    responses: { 204: empty('The conversation is deleted') },
    errors: ['not-found'],
  },
  createTurn: {
    tag: 'conversations',
    summary: 'Sends a message to an agent; turns of one conversation are answered one at a time, in order',
    params: ConversationPath,
    headers: IdempotencyHeaders,
    body: CreateTurn,
    responses: turnResponses,
    errors: turnErrors,
  },
  editMessage: {
    tag: 'conversations',
    summary:
      'Changes the text of a message; agents that had seen it start a new session with the new history',
    params: MessagePath,
    body: EditMessage,
    responses: { 200: json('The message', Message) },
    errors: ['not-found', 'conflict'],
  },
  truncateConversation: {
    tag: 'conversations',
    summary: 'Removes a message and everything after it; runs that were to answer it are cancelled',
    params: MessagePath,
    responses: { 200: json('How many messages were removed', z.object({ removed: z.number().int() })) },
    errors: ['not-found', 'conflict'],
  },
  forkConversation: {
    tag: 'conversations',
    summary: 'Forks a conversation: a new one with the turns up to a message',
    description:
      'Each agent gets a fork of its session, if that can be cut there. Otherwise its next turn starts a new session with the history.',
    params: ConversationPath,
    body: ForkConversation,
    bodyOptional: true,
    responses: { 201: json('The new conversation', ConversationDetail) },
    errors: ['not-found', 'conflict'],
  },
  retryTurn: {
    tag: 'conversations',
    summary: "Asks the question of that message's turn again, as if nothing had come after it",
    params: MessagePath,
    headers: IdempotencyHeaders,
    body: RetryTurn,
    bodyOptional: true,
    responses: turnResponses,
    errors: turnErrors,
  },
} satisfies FeatureRoutes
