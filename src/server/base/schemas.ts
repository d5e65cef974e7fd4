/** The contract's schemas under the names they have in the OpenAPI document, and what only HTTP adds to them. */
import { z } from '@hono/zod-openapi'
import * as agent from '../../contract/agent.ts'
import * as chain from '../../contract/chain.ts'
import * as conversation from '../../contract/conversation.ts'
import * as errors from '../../contract/errors.ts'
import * as escalation from '../../contract/escalation.ts'
import * as events from '../../contract/events.ts'
import * as followUp from '../../contract/follow-up.ts'
import * as http from '../../contract/http.ts'
import {
  ConversationId,
  CycleId,
  FollowUpId,
  JobId,
  MessageId,
  RunId,
  SessionRef,
  WatchId,
} from '../../contract/ids.ts'
import * as job from '../../contract/job.ts'
import * as run from '../../contract/run.ts'
import * as session from '../../contract/session.ts'
import * as stats from '../../contract/stats.ts'
import * as watch from '../../contract/watch.ts'

/** A copy, because only schemas made after @hono/zod-openapi was loaded have its method. */
const named = <T extends z.ZodType>(name: string, schema: T): T => schema.clone().openapi(name)

export const Health = named('Health', http.Health)
export const Status = named('Status', http.Status)
export const Run = named('Run', run.Run)
export const RunDetail = named('RunDetail', run.RunDetail)
export const CreateRun = named('CreateRun', run.CreateRun)
export const ToolResult = named('ToolResult', run.ToolResult)
export const Escalation = named('Escalation', escalation.Escalation)
export const Approval = named('Approval', escalation.Approval)
export const Chain = named('Chain', chain.Chain)
export const Session = named('Session', session.Session)
export const SessionDetail = named('SessionDetail', session.SessionDetail)
export const Agent = named('Agent', agent.Agent)
export const RunEvent = named('RunEvent', z.intersection(events.EventEnvelope, events.EventBody))
export const Conversation = named('Conversation', conversation.Conversation)
export const ConversationDetail = named('ConversationDetail', conversation.ConversationDetail)
export const ConversationMove = named('ConversationMove', conversation.ConversationMove)
export const UpdatedConversation = named('UpdatedConversation', conversation.UpdatedConversation)
export const Message = named('Message', conversation.Message)
export const CreateConversation = named('CreateConversation', conversation.CreateConversation)
export const UpdateConversation = named('UpdateConversation', conversation.UpdateConversation)
export const CreateTurn = named('CreateTurn', conversation.CreateTurn)
export const RetryTurn = named('RetryTurn', conversation.RetryTurn)
export const EditMessage = named('EditMessage', conversation.EditMessage)
export const Job = named('Job', job.Job)
export const JobDetail = named('JobDetail', job.JobDetail)
export const CreateJob = named('CreateJob', job.CreateJob)
export const UpdateJob = named('UpdateJob', job.UpdateJob)
export const CheckpointDiff = named('CheckpointDiff', job.CheckpointDiff)
export const Watch = named('Watch', watch.Watch)
export const CreateWatch = named('CreateWatch', watch.CreateWatch)
export const UpdateWatch = named('UpdateWatch', watch.UpdateWatch)
export const TriggerWatch = named('TriggerWatch', watch.TriggerWatch)
export const Triggered = named('Triggered', watch.Triggered)
export const Cycle = named('Cycle', watch.Cycle)
export const CycleDetail = named('CycleDetail', watch.CycleDetail)
export const FollowUp = named('FollowUp', followUp.FollowUp)
export const CreateFollowUp = named('CreateFollowUp', followUp.CreateFollowUp)
export const Stats = named('Stats', stats.Stats)
const ErrorBody = named('Error', errors.ErrorBody)

export const PageQuery = z.strictObject(http.PageQuery.shape)
export const MoveQuery = z.strictObject({ workDir: conversation.UpdateConversation.shape.workDir.unwrap() })
export const RunsQuery = z.strictObject({ ...http.PageQuery.shape, state: run.Run.shape.state.optional() })
export const JobsQuery = z.strictObject({ ...http.PageQuery.shape, state: job.JobState.optional() })
export const FollowUpsQuery = z.strictObject({
  ...http.PageQuery.shape,
  state: followUp.FollowUpState.optional(),
  runId: RunId.schema.optional(),
  cycleId: CycleId.schema.optional(),
})
export const page = http.page

export const RunPath = z.object({ id: RunId.schema })
export const CyclePath = z.object({ id: CycleId.schema })
export const FollowUpPath = z.object({ id: FollowUpId.schema })
export const JobPath = z.object({ id: JobId.schema })
export const ConversationPath = z.object({ id: ConversationId.schema })
export const MessagePath = z.object({ id: ConversationId.schema, mid: MessageId.schema })

export const SessionPath = z.object({ id: SessionRef })

const WatchRef = z.string().refine((id) => WatchId.is(id) || watch.WatchName.safeParse(id).success, {
  error: "expected a watch's name, or its id like wch_01J…",
})
export const WatchPath = z.object({ id: WatchRef })
export const HookPath = z.object({ watch: WatchRef })

const YesOrNo = z.enum(['true', 'false'], {
  error: ({ input }) => `expected true or false, got ${JSON.stringify(input).slice(0, 80)}`,
})

const seq = z.string().regex(/^\d{1,15}$/, { error: 'expected the number of an event' })
export const EventsQuery = z.strictObject({
  after: seq.optional(),
  follow: YesOrNo.optional(),
})
export const EventsHeaders = z.object({ 'last-event-id': seq.optional() })

export const RetryJobQuery = z.strictObject({
  resume: YesOrNo.optional(),
  /** Instead of the limit it ran into. */
  maxTurns: z.coerce.number().int().min(1).max(10_000).optional(),
})

const checkpoint = z
  .string()
  .regex(/^\d{1,9}$/, { error: 'expected the number of a checkpoint' })
  .transform(Number)
export const DiffQuery = z.strictObject({ from: checkpoint.optional(), to: checkpoint.optional() })
export const RestoreCheckpoint = named(
  'RestoreCheckpoint',
  z.strictObject({ checkpoint: z.number().int().min(0).max(999_999_999) }),
)
export const RestoredCheckpoint = named(
  'RestoredCheckpoint',
  z.object({ restored: z.number().int(), saved: z.number().int().nullable() }),
)

export const IdempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: 'expected 1 to 255 visible ASCII characters' })
    .optional(),
})

export const json = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: { 'application/json': { schema } },
})

export const failure = json('What went wrong, with a stable code and where possible a hint', ErrorBody)
