import { z } from 'zod'
import { CheckpointDiff, RewoundJob } from '../checkpoint.ts'
import { CreateJob, UpdateJob } from '../create-job.ts'
import { RunEvent } from '../events.ts'
import { page, SearchText } from '../http.ts'
import { Job, JobDetail, JobEnd, JobSort, JobState } from '../job.ts'
import { Follow, IdempotencyHeaders, JobPath, PageQuery, YesOrNo } from './parameters.ts'
import { empty, events, type FeatureRoutes, json, lines } from './route.ts'

const EventId = z.string().regex(/^run_[0-9A-HJKMNP-TV-Z]{26}:(\d{1,15}|end)$/, {
  error: 'expected the id of an event like run_01J…:42',
})

const checkpointNumber = z
  .string()
  .regex(/^\d{1,9}$/, { error: 'expected the number of a checkpoint' })
  .transform(Number)

const RestoreCheckpoint = z
  .strictObject({ checkpoint: z.number().int().min(0).max(999_999_999) })
  .meta({ id: 'RestoreCheckpoint' })
const RestoredCheckpoint = z
  .object({
    restored: z.number().int(),
    saved: z.number().int().nullable().describe('The checkpoint that holds what was there before.'),
  })
  .meta({ id: 'RestoredCheckpoint' })

export const jobRoutes = {
  createJob: {
    tag: 'jobs',
    summary: 'Gives an agent a prompt to finish unattended',
    headers: IdempotencyHeaders,
    body: CreateJob,
    responses: {
      201: json('The job is stored and will be carried out', Job),
      200: json('This Idempotency-Key was used before: the earlier job', Job),
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
  listJobs: {
    tag: 'jobs',
    summary: 'Lists jobs, newest first unless asked otherwise',
    query: PageQuery.extend({
      state: JobState.optional(),
      q: SearchText.optional().describe(
        'Only jobs with these words in their prompt, directory, agent or id.',
      ),
      sort: JobSort.optional(),
    }),
    responses: { 200: json('One page', page(Job)) },
  },
  getJob: {
    tag: 'jobs',
    summary: 'Returns one job with its attempts, checkpoints and archived transcripts',
    params: JobPath,
    responses: { 200: json('The job', JobDetail) },
    errors: ['not-found'],
  },
  updateJob: {
    tag: 'jobs',
    summary: 'Changes budget or priority; a job that is paused for its budget continues if some is left',
    params: JobPath,
    body: UpdateJob,
    responses: { 200: json('The job', Job) },
    errors: ['not-found', 'conflict'],
  },
  followJobEvents: {
    tag: 'jobs',
    summary: 'Streams the events of all runs of a job, in order',
    description:
      'Starts after the event named by Last-Event-ID, else by `after`. Continues with the runs of later retries. Once the job has settled (it is completed, failed or cancelled, or it is paused and needs a person), one `job-end` ends the stream. With `follow=false` the stream ends at the newest event.',
    params: JobPath,
    query: z.strictObject({
      after: EventId.optional().describe('Start after the event with this id.'),
      follow: Follow,
    }),
    headers: z.object({
      'last-event-id': EventId.optional().describe('The id of the last event that was received.'),
    }),
    responses: {
      200: events(
        '`id:` is `<run>:<number of the event>`, `event:` the type of the event, `data:` the event; the last one is `job-end`',
        z.union([RunEvent, JobEnd]),
      ),
      204: empty('The job has settled and there is nothing after that event'),
    },
    errors: ['not-found'],
  },
  retryJob: {
    tag: 'jobs',
    summary: 'Continues a job that is paused, failed or cancelled; one that waits for a time starts now',
    description:
      'Continues in its session if that is safe, or with `resume=false` in a new one. `maxTurns` replaces the limit that the job reached.',
    params: JobPath,
    query: z.strictObject({
      resume: YesOrNo.optional().describe('`false`: in a new session.'),
      maxTurns: z.coerce
        .number<number | string>()
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .describe('Replaces the limit that the job reached.'),
    }),
    responses: { 202: json('The job will continue', Job) },
    errors: ['not-found', 'conflict'],
  },
  cancelJob: {
    tag: 'jobs',
    summary: 'Cancels a job',
    params: JobPath,
    responses: { 202: json('The request is stored; the job ends soon', Job) },
    errors: ['not-found', 'conflict'],
  },
  diffCheckpoints: {
    tag: 'jobs',
    summary: 'Shows what changed between two checkpoints',
    description: 'By default from the first checkpoint to the work tree as it is now.',
    params: JobPath,
    query: z.strictObject({ from: checkpointNumber.optional(), to: checkpointNumber.optional() }),
    responses: { 200: json('Files and patch', CheckpointDiff) },
    errors: ['not-found', 'conflict'],
  },
  restoreCheckpoint: {
    tag: 'jobs',
    summary: 'Restores the work tree of a checkpoint, after saving the present one as another checkpoint',
    params: JobPath,
    body: RestoreCheckpoint,
    responses: { 200: json('What was restored and what was saved', RestoredCheckpoint) },
    errors: ['not-found', 'conflict', 'work-dir-unusable'],
  },
  rewindJob: {
    tag: 'jobs',
    summary: 'Puts the files and the session of a job back to a checkpoint',
    description:
      'The session is forked at that point and the present files are saved as another checkpoint, so nothing is lost. A retry continues in the fork.',
    params: JobPath,
    body: RestoreCheckpoint,
    responses: { 200: json('What was restored, and the fork', RewoundJob) },
    errors: ['not-found', 'conflict', 'work-dir-unusable', 'session-unusable', 'agent-unknown'],
  },
  getTranscript: {
    tag: 'jobs',
    summary: "Returns the agent's own transcript of the job's newest session",
    params: JobPath,
    responses: { 200: lines("Lines of JSON in the agent's own format", z.unknown()) },
    errors: ['not-found'],
  },
} satisfies FeatureRoutes
