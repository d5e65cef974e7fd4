import { z } from 'zod'
import { CreateRun } from '../create-run.ts'
import { RunEvent } from '../events.ts'
import { page } from '../http.ts'
import { ConversationId, JobId, SessionId } from '../ids.ts'
import { ToolResult } from '../question.ts'
import { Run, RunDetail } from '../run.ts'
import { RunMessage, Say } from '../run-message.ts'
import { Follow, IdempotencyHeaders, PageQuery, RunPath } from './parameters.ts'
import { empty, events, type FeatureRoutes, json } from './route.ts'

const RunsQuery = PageQuery.extend({
  state: Run.shape.state.optional(),
  conversationId: ConversationId.schema.optional(),
  jobId: JobId.schema.optional(),
  session: SessionId.schema.optional().describe("Reprise's id of the session that the runs used last."),
})

const Seq = z.string().regex(/^\d{1,15}$/, { error: 'expected the number of an event' })

export const runRoutes = {
  createRun: {
    tag: 'runs',
    summary: 'Gives a prompt to an agent',
    headers: IdempotencyHeaders,
    body: CreateRun,
    responses: {
      201: json('The run is stored and will be carried out', Run),
      200: json('This Idempotency-Key was used before: the earlier run', Run),
    },
    errors: [
      'conflict',
      'not-found',
      'agent-unknown',
      'agent-unavailable',
      'work-dir-unusable',
      'session-unusable',
      'home-unusable',
    ],
  },
  listRuns: {
    tag: 'runs',
    summary: 'Lists runs, newest first',
    query: RunsQuery,
    responses: { 200: json('One page', page(Run)) },
  },
  getRun: {
    tag: 'runs',
    summary: 'Returns one run with its attempts',
    params: RunPath,
    responses: { 200: json('The run', RunDetail) },
    errors: ['not-found'],
  },
  followRunEvents: {
    tag: 'runs',
    summary: 'Streams the events of a run',
    description:
      'Starts after the event numbered by Last-Event-ID, else by `after`. Ends after `run-end`, or with `follow=false` at the newest event.',
    params: RunPath,
    query: z.strictObject({
      after: Seq.optional().describe('Start after the event with this number.'),
      follow: Follow,
    }),
    headers: z.object({
      'last-event-id': Seq.optional().describe('The number of the last event that was received.'),
    }),
    responses: {
      200: events('`id:` is the number of the event, `event:` its type, `data:` the event', RunEvent),
      204: empty('The run has ended and there is nothing after that event'),
    },
    errors: ['not-found'],
  },
  cancelRun: {
    tag: 'runs',
    summary: 'Cancels a run',
    params: RunPath,
    responses: { 202: json('The request is stored; the run settles soon', Run) },
    errors: ['not-found', 'run-settled'],
  },
  continueRun: {
    tag: 'runs',
    summary: 'Starts a queued run that waits or is paused now',
    params: RunPath,
    responses: { 202: json('The run will be tried', Run) },
    errors: ['not-found', 'conflict', 'run-settled'],
  },
  answerRun: {
    tag: 'runs',
    summary: 'Answers a question or a permission request of the agent',
    scope: 'answer',
    params: RunPath,
    body: ToolResult,
    responses: { 200: json('The run', Run) },
    errors: ['not-found', 'question-unknown', 'question-answered', 'conflict', 'run-settled'],
  },
  sayToRun: {
    tag: 'runs',
    summary: 'Sends a message to an agent that is at work',
    description:
      'The message is stored, and given to the agent at the next opportunity: usually after its current tool call or, at the end of its turn, as one more prompt. If the run ends first, the message becomes the next turn of its conversation, if it has one.',
    params: RunPath,
    headers: IdempotencyHeaders,
    body: Say,
    responses: { 202: json('The message is stored', RunMessage) },
    errors: ['not-found', 'run-settled'],
  },
  listRunMessages: {
    tag: 'runs',
    summary: 'Lists the messages that were sent to the agent while it worked, oldest first',
    params: RunPath,
    responses: { 200: json('The messages', z.object({ items: z.array(RunMessage) })) },
    errors: ['not-found'],
  },
} satisfies FeatureRoutes
