/** Jobs, as the outside asks for them. What happens to one once it is queued is the one path, as for every run. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { RepriseError } from '../../contract/errors.ts'
import { JobId, type RunId } from '../../contract/ids.ts'
import type { CheckpointPolicy, CreateJob, Job, JobDetail } from '../../contract/job.ts'
import { overBudget } from '../../core/job/budget.ts'
import type { JobRecord, RunRecord, SessionRecord } from '../../store/base/records.ts'
import { spentBy } from '../accounting/allowance.ts'
import type { EngineParts, JobSettings } from '../parts.ts'
import { newRun } from '../path/admit.ts'
import { checkRequest } from '../path/check-request.ts'
import { describeAttempt, describeQuestion } from '../path/describe.ts'
import { listArchive, readArchive } from '../sessions/archive.ts'
import type { LiveRuns } from '../supervise/live-runs.ts'
import type { JobEngine } from './api.ts'
import { findTop } from './checkpoints.ts'
import { describeCheckpoint, describeJob } from './describe.ts'
import { holdsPlace, nextRun } from './next-run.ts'

export interface JobDeps {
  live: LiveRuns
  wake: () => void
  cancelRun: (id: RunId) => Promise<unknown>
  /** Keeps jobs out of a place while something is done there; null if one is in it. */
  occupy: <T>(place: string, work: () => Promise<T>) => Promise<T> | null
}

const LISTED_CHARS = 500

export function createJobs(parts: EngineParts, { live, wake, cancelRun, occupy }: JobDeps): JobEngine {
  const { store, clock, settings, bus } = parts

  const requireJob = async (id: JobId): Promise<JobRecord> => {
    const job = await store.getJob(id)
    if (job) return job
    throw new RepriseError('not-found', `there is no job ${id}`, { hint: '`reprise jobs` lists them.' })
  }
  const describe = async (job: JobRecord, runs: readonly RunRecord[]): Promise<Job> => {
    const run = runs.find(({ id }) => id === job.runId) ?? runs.at(-1)
    return describeJob({
      job,
      runs,
      session: run?.sessionId ? await store.getSession(run.sessionId) : null,
      pending: run?.state.at === 'running' ? await store.listPending(run.id) : [],
      live: live.get(job.runId)?.read() ?? null,
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
    const job = await requireJob(id)
    return describe(job, await runsOf(job))
  }

  return {
    createJob: async (request, idempotencyKey) => {
      // Asked for again, it is there, whatever has become of its directory.
      const requestHash = hashOf(request)
      const known = idempotencyKey === null ? null : await store.findJobByKey(idempotencyKey, requestHash)
      if (known) return { job: await show(known.id), created: false }
      const checked = await checkRequest(parts, request)
      const policy = checkpointPolicyOf(request, settings.jobs)
      const required = request.checkpoints !== undefined
      const workTree = policy && (await findTop(parts.git, checked.place, required))
      const checkpoints = workTree === null ? null : policy
      const { prompt, workDir, model, permissions, forceFreshSession, maxResumes } = request
      const turns = {
        maxTurns: request.maxTurns,
        continue: request.continue,
        maxTurnsTotal: request.maxTurnsTotal,
      }
      const wish = { prompt, workDir, model, permissions, forceFreshSession, maxResumes, ...turns }
      const run = newRun(parts, { ...wish, maxDurationMs: request.timeoutMs }, checked)
      const id = JobId.create(run.createdAt)
      const priority = request.priority ?? 0
      // Two jobs in different folders of one work tree would be in each other's checkpoints.
      const place = workTree ?? checked.place
      const { job, created } = await store.admitJob({
        job: {
          id,
          idempotencyKey,
          requestHash,
          options: { checkpoints, workTree, webhook: request.webhook ?? null },
          priority,
          maxBudgetUsd: request.maxBudgetUsd ?? null,
          maxBudgetTokens: request.maxBudgetTokens ?? null,
          createdAt: run.createdAt,
        },
        run: { ...run, job: { id, priority, place, holdsPlace: holdsPlace({ checkpoints }) } },
      })
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
      const job = await requireJob(id)
      const runs = await runsOf(job)
      const attempts = await Promise.all(
        runs.map(async (run) =>
          (await store.listAttempts(run.id)).map((a) => ({ ...describeAttempt(a), runId: run.id })),
        ),
      )
      const pending = await store.listPending(job.runId)
      return {
        ...(await describe(job, runs)),
        runIds: runs.map((run) => run.id),
        attempts: attempts.flat(),
        checkpoints: (await store.listCheckpoints(id)).map(describeCheckpoint),
        pending: pending.map(describeQuestion),
        archived: await listArchive(parts.archive, id),
      }
    },

    updateJob: async (id, change) => {
      const job = await requireJob(id)
      const budget = {
        usd: change.maxBudgetUsd === undefined ? job.maxBudgetUsd : change.maxBudgetUsd,
        tokens: change.maxBudgetTokens === undefined ? job.maxBudgetTokens : change.maxBudgetTokens,
      }
      const left = overBudget(budget, spentBy(await store.listSpendOf(id))) === null
      const goOn = job.attention === 'budget' && left ? await nextRun(parts, job, true) : null
      await store.updateJob(id, change, goOn, clock.now())
      wake()
      return show(id)
    },

    retryJob: async (id, { resume, maxTurns }) => {
      const job = await requireJob(id)
      if (job.state === 'waiting' && resume && (await store.hastenRun(job.runId, clock.now()))) {
        bus.publish(job.runId)
        wake()
        return show(id)
      }
      const { after, run } = await nextRun(parts, job, resume, maxTurns)
      if (!(await store.continueJob(id, after, run, clock.now()))) throw cannotRetry(await requireJob(id))
      wake()
      return show(id)
    },

    cancelJob: async (id) => {
      const job = await requireJob(id)
      if (job.state === 'paused') {
        const { after, run } = await nextRun(parts, job, true)
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

    diffCheckpoints: async (id, range) => parts.checkpoints.diff(await requireJob(id), range),
    restoreCheckpoint: async (id, checkpoint) => {
      const job = await requireJob(id)
      const run = await store.getRun(job.runId)
      const work = () => parts.checkpoints.restore(job, checkpoint)
      const open = run !== null && run.state.at !== 'settled'
      const restored = open ? null : occupy(run?.place ?? job.id, work)
      if (restored) return restored
      throw new RepriseError(
        'conflict',
        `${open ? `job ${id}` : 'another job'} is at work in that directory`,
        {
          hint: 'Wait for its end, or cancel it first.',
        },
      )
    },
    readTranscript: async (id) => {
      const job = await requireJob(id)
      const run = await store.getRun(job.runId)
      const session = run?.sessionId ? await store.getSession(run.sessionId) : null
      const transcript = session && (await openTranscript(parts, job, session))
      if (transcript) return transcript
      throw new RepriseError('not-found', `there is no transcript of job ${id}`, {
        hint: 'It may not have begun, or its transcript is older than jobs.keepTranscripts.',
      })
    },
  }
}

/** Of a job at work, the agent's own file is the newer one. */
async function openTranscript(
  { archive, agents }: EngineParts,
  { id: jobId, state }: JobRecord,
  { agent, agentSessionId, workDir }: SessionRecord,
): Promise<AsyncIterable<Uint8Array> | null> {
  const kept = state === 'running' ? null : await readArchive(archive, { jobId, agentSessionId })
  if (kept) return kept
  const { adapter, env } = agents.get(agent)
  const files = await adapter.locateSession(agentSessionId, env, workDir)
  return files && createReadStream(files.transcript)
}

function checkpointPolicyOf({ checkpoints }: CreateJob, settings: JobSettings): CheckpointPolicy | null {
  if (!(checkpoints ?? settings.checkpoints)) return null
  const wish = typeof checkpoints === 'object' ? checkpoints : {}
  return {
    everyMs: wish.everyMs ?? settings.checkpointPolicy.everyMs,
    onChange: wish.onChange ?? settings.checkpointPolicy.onChange,
  }
}

function cannotRetry({ id, state }: JobRecord): RepriseError {
  if (state === 'completed') {
    return new RepriseError('conflict', `job ${id} has completed: there is nothing to retry`, {
      hint: 'Start a new job; with sessionId (--session) it goes on where this one ended.',
      details: { state },
    })
  }
  return new RepriseError('conflict', `job ${id} is ${state}: it cannot be retried now`, {
    hint: 'Wait for its end, or cancel it first.',
    details: { state },
  })
}

/** A page of long prompts and answers must not be a gigabyte; the job itself has all of it. */
function shorten(job: Job): Job {
  return {
    ...job,
    prompt: job.prompt.slice(0, LISTED_CHARS),
    resultText: job.resultText?.slice(0, LISTED_CHARS) ?? null,
  }
}

const hashOf = (request: CreateJob) => {
  const sorted = Object.entries(request)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 32)
}
