import { RepriseError } from '../../contract/errors.ts'
import type { JobId, RunId } from '../../contract/ids.ts'
import type { Job, JobDetail } from '../../contract/job.ts'
import { overBudget } from '../../core/job/budget.ts'
import type { JobRecord } from '../../store/jobs/records.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { spentBy } from '../accounting/allowance.ts'
import type { ProgressBus } from '../base/progress.ts'
import { type WhyQueuedDeps, whyQueued } from '../base/why-queued.ts'
import type { Mirror } from '../mirror/mirror.ts'
import { describeAttempt, describeQuestion } from '../path/describe.ts'
import type { LiveRuns } from '../supervise/live-runs.ts'
import { type AdmitJobDeps, admitJob } from './admit.ts'
import type { JobEngine } from './api.ts'
import { describeCheckpoint, describeJob } from './describe.ts'
import { createJobFiles, type JobFilesDeps, type JobFilesHooks } from './job-files.ts'
import { type ContinueDeps, nextRun } from './next-run.ts'
import { requireJob } from './require-job.ts'

export type JobDeps = AdmitJobDeps &
  ContinueDeps &
  JobFilesDeps &
  WhyQueuedDeps & {
    store: Pick<
      Store,
      | 'getRun'
      | 'listJobs'
      | 'listRunsOfJobs'
      | 'listPending'
      | 'listAttempts'
      | 'listCheckpoints'
      | 'updateJob'
      | 'hastenRun'
      | 'dismissJob'
    >
    bus: Pick<ProgressBus, 'publish'>
    mirrors: Pick<Mirror, 'findTranscript'>
    settings: { resume: { maxResumes: number } }
  }

export interface JobHooks extends JobFilesHooks {
  live: Pick<LiveRuns, 'get'>
  wake: () => void
  cancelRun: (id: RunId) => Promise<unknown>
}

const LISTED_CHARS = 500

/** The copies of the transcripts of the sessions that the attempts used. */
async function listMirrored(
  { mirrors }: Pick<JobDeps, 'mirrors'>,
  attempts: readonly AttemptRecord[],
): Promise<JobDetail['archived']> {
  const bySession = new Map(attempts.map((attempt) => [attempt.agentSessionId, attempt]))
  const found = [...bySession].map(async ([agentSessionId, { sessionId: id }]) => {
    const copy = await mirrors.findTranscript({ id, agentSessionId })
    return copy ? [{ sessionId: agentSessionId, ...copy }] : []
  })
  return (await Promise.all(found)).flat()
}

export function createJobs(deps: JobDeps, hooks: JobHooks): JobEngine {
  const { store, clock, settings, bus } = deps
  const { live, wake, cancelRun } = hooks

  const describe = async (job: JobRecord, runs: readonly RunRecord[]): Promise<Job> => {
    const run = runs.find(({ id }) => id === job.runId) ?? runs.at(-1)
    return describeJob({
      job,
      runs,
      session: run?.sessionId ? await store.getSession(run.sessionId) : null,
      pending: run?.state.at === 'running' ? await store.listPending(run.id) : [],
      live: live.get(job.runId)?.read() ?? null,
      why: run ? await whyQueued(deps, run) : null,
      spends: await store.listSpendOf(job.id),
      maxResumes: settings.resume.maxResumes,
      now: clock.now(),
    })
  }
  /** With the whole of the prompt and the answer. */
  const runsOf = async (job: JobRecord): Promise<RunRecord[]> => {
    const run = await store.getRun(job.runId)
    return (await store.listRunsOfJobs([job.id])).map((short) => (run && short.id === run.id ? run : short))
  }
  const show = async (id: JobId): Promise<Job> => {
    const job = await requireJob(store, id)
    return describe(job, await runsOf(job))
  }

  return {
    ...createJobFiles(deps, hooks),

    createJob: async (request, idempotencyKey) => {
      const { job, created } = await admitJob(deps, request, idempotencyKey)
      wake()
      return { job: await show(job.id), created }
    },

    listJobs: async (query) => {
      const { items, nextCursor } = await store.listJobs(query)
      const runs = Map.groupBy(await store.listRunsOfJobs(items.map(({ id }) => id)), (r) => r.links.jobId)
      const jobs = await Promise.all(items.map((job) => describe(job, runs.get(job.id) ?? [])))
      return { items: jobs.map(shorten), nextCursor }
    },

    getJob: async (id): Promise<JobDetail> => {
      const job = await requireJob(store, id)
      const runs = await runsOf(job)
      const attempts = await Promise.all(runs.map((run) => store.listAttempts(run.id)))
      const pending = await store.listPending(job.runId)
      return {
        ...(await describe(job, runs)),
        runIds: runs.map((run) => run.id),
        attempts: attempts.flat().map((attempt) => ({ ...describeAttempt(attempt), runId: attempt.runId })),
        checkpoints: (await store.listCheckpoints(id)).map(describeCheckpoint),
        pending: pending.map(describeQuestion),
        archived: await listMirrored(deps, attempts.flat()),
      }
    },

    updateJob: async (id, change) => {
      const job = await requireJob(store, id)
      const budget = {
        usd: change.maxBudgetUsd === undefined ? job.maxBudgetUsd : change.maxBudgetUsd,
        tokens: change.maxBudgetTokens === undefined ? job.maxBudgetTokens : change.maxBudgetTokens,
      }
      const left = overBudget(budget, spentBy(await store.listSpendOf(id))) === null
      const next = job.attention === 'budget' && left ? await nextRun(deps, job, true) : null
      await store.updateJob(id, change, next, clock.now())
      wake()
      return show(id)
    },

    retryJob: async (id, { resume, maxTurns }) => {
      const job = await requireJob(store, id)
      if (job.state === 'waiting' && resume && (await store.hastenRun(job.runId, clock.now()))) {
        bus.publish(job.runId)
        wake()
        return show(id)
      }
      const { after, run } = await nextRun(deps, job, resume, maxTurns)
      if (!(await store.continueJob(id, after, run, clock.now())))
        throw cannotRetry(await requireJob(store, id))
      wake()
      return show(id)
    },

    cancelJob: async (id) => {
      const job = await requireJob(store, id)
      if (job.state === 'paused') {
        const { after, run } = await nextRun(deps, job, true)
        if (await store.dismissJob(id, after, run, clock.now())) return show(id)
      }
      const run = await store.getRun(job.runId)
      if (run?.state.at === 'settled') {
        throw new RepriseError('run-settled', `job ${id} is ${job.state}: there is nothing to cancel`, {
          details: { state: job.state },
        })
      }
      await cancelRun(job.runId)
      return show(id)
    },
  }
}

function cannotRetry({ id, state }: JobRecord): RepriseError {
  if (state === 'completed') {
    return new RepriseError('conflict', `job ${id} has completed: there is nothing to retry`, {
      hint: 'Start a new job; with sessionId (--session) it continues where this one ended.',
      details: { state },
    })
  }
  return new RepriseError('conflict', `job ${id} is ${state}: it cannot be retried now`, {
    hint: 'Wait until it has ended, or cancel it first.',
    details: { state },
  })
}

/** Shortens long texts in lists, so that a page does not become huge. Reading the single job returns them whole. */
function shorten(job: Job): Job {
  return {
    ...job,
    prompt: job.prompt.slice(0, LISTED_CHARS),
    resultText: job.resultText?.slice(0, LISTED_CHARS) ?? null,
  }
}
