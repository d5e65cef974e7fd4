/** The store interface of jobs. */
import type { Kysely } from 'kysely'
import type { UpdateJob } from '../../contract/create-job.ts'
import type { Page } from '../../contract/http.ts'
import type { JobId, RunId } from '../../contract/ids.ts'
import type { JobState } from '../../contract/job.ts'
import type { Tables } from '../base/schema.ts'
import type { Write } from '../base/transaction.ts'
import type { NewRun, RunRecord } from '../runs/records.ts'
import * as checkpoints from './checkpoints.ts'
import * as jobs from './jobs.ts'
import { type JobQuery, listJobs } from './list-jobs.ts'
import type { CheckpointRecord, JobRecord, NewJob, Rewound, SessionPosition } from './records.ts'
import { listRunsOfJobs } from './runs-of-jobs.ts'

export interface JobStore {
  admitJob: (input: { job: NewJob; run: NewRun }) => Promise<{ job: JobRecord; created: boolean }>
  /**
   * Gives the job another run. null: the job cannot be continued in its state, or `after` is no longer its last run.
   */
  continueJob: (id: JobId, after: RunId, run: NewRun, at: Date) => Promise<JobRecord | null>
  /** Gives up a paused job. Returns false if it is not paused, or `after` is no longer its last run. */
  dismissJob: (id: JobId, after: RunId, run: NewRun, at: Date) => Promise<boolean>
  /** With `goOn`, a job that is paused because of its budget gets that run. */
  updateJob: (
    id: JobId,
    change: UpdateJob,
    goOn: { after: RunId; run: NewRun } | null,
    at: Date,
  ) => Promise<JobRecord | null>
  getJob: (id: JobId) => Promise<JobRecord | null>
  listJobs: (query: JobQuery) => Promise<Page<JobRecord>>
  /** Long texts are cut, because there may be many. */
  listRunsOfJobs: (ids: readonly JobId[]) => Promise<RunRecord[]>
  findJobByKey: (idempotencyKey: string, requestHash: string) => Promise<JobRecord | null>
  countJobs: () => Promise<Partial<Record<JobState, number>>>
  /** Notes where the job continues. Returns false if it has another run by now. */
  rewindJob: (id: JobId, rewound: Rewound, at: Date) => Promise<boolean>
  addCheckpoint: (checkpoint: CheckpointRecord) => Promise<void>
  /** The session went on, and the files are still as they were at the checkpoint. */
  placeCheckpoint: (id: JobId, number: number, position: SessionPosition) => Promise<void>
  listCheckpoints: (id: JobId) => Promise<CheckpointRecord[]>
  listJobsWithOldCheckpoints: (endedBefore: Date, limit: number) => Promise<JobRecord[]>
  deleteCheckpoints: (id: JobId) => Promise<void>
}

export function createJobStore(reader: Kysely<Tables>, write: Write): JobStore {
  return {
    admitJob: (input) => write((tx) => jobs.admitJob(tx, input)),
    continueJob: (id, after, run, at) => write((tx) => jobs.continueJob(tx, id, after, run, at)),
    dismissJob: (id, after, run, at) => write((tx) => jobs.dismissJob(tx, id, after, run, at)),
    updateJob: (id, change, goOn, at) => write((tx) => jobs.updateJob(tx, id, change, goOn, at)),
    getJob: (id) => jobs.getJob(reader, id),
    listJobs: (query) => listJobs(reader, query),
    listRunsOfJobs: (ids) => listRunsOfJobs(reader, ids),
    findJobByKey: (key, hash) => jobs.findJobByKey(reader, key, hash),
    countJobs: () => jobs.countJobs(reader),
    addCheckpoint: (checkpoint) => write((tx) => checkpoints.addCheckpoint(tx, checkpoint)),
    rewindJob: (id, rewound, at) => write((tx) => jobs.rewindJob(tx, id, rewound, at)),
    placeCheckpoint: (id, number, position) =>
      write((tx) => checkpoints.placeCheckpoint(tx, id, number, position)),
    listCheckpoints: (id) => checkpoints.listCheckpoints(reader, id),
    listJobsWithOldCheckpoints: (before, limit) =>
      checkpoints.listJobsWithOldCheckpoints(reader, before, limit),
    deleteCheckpoints: (id) => write((tx) => checkpoints.deleteCheckpoints(tx, id)),
  }
}
