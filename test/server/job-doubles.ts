/** The part of the engine double that is about jobs. */

import type { CreateJob } from '../../src/contract/create-job.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import { JobId, RunId } from '../../src/contract/ids.ts'
import type { JobDetail } from '../../src/contract/job.ts'
import { NO_USAGE } from '../../src/contract/outcome.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import type { JobEngine } from '../../src/engine/jobs/api.ts'

export interface JobDoubles extends JobEngine {
  addJob: (change?: Partial<JobDetail>) => JobDetail
  /** Adds a run to a job, which then works on it. */
  addRunTo: (id: JobId) => RunId
  changeJob: (id: JobId, change: Partial<JobDetail>) => void
  /** What was asked of jobs, besides looking. */
  asked: { call: string; id: JobId; with?: unknown }[]
}

export function createJobDoubles(addRun: (change: Partial<RunDetail>) => RunDetail): JobDoubles {
  const jobs = new Map<JobId, JobDetail>()
  const keys = new Map<string, { id: JobId; body: string }>()
  const asked: JobDoubles['asked'] = []

  const get = (id: JobId): JobDetail => {
    const job = jobs.get(id)
    if (!job) throw new RepriseError('not-found', `there is no job ${id}`)
    return job
  }
  const addJob: JobDoubles['addJob'] = (change = {}) => {
    const job = { ...newJob(), ...change }
    if (!change.runId) job.runId = addRun({ jobId: job.id, prompt: job.prompt }).id
    job.runIds = [job.runId]
    jobs.set(job.id, job)
    return job
  }
  const change = (id: JobId, with_: Partial<JobDetail>): JobDetail => {
    const job = { ...get(id), ...with_ }
    jobs.set(id, job)
    return job
  }

  return {
    addJob,
    addRunTo: (id) => {
      const runId = addRun({ jobId: id }).id
      change(id, { runId, runIds: [...get(id).runIds, runId], state: 'running' })
      return runId
    },
    rewindJob: async () => {
      throw new Error('not played')
    },
    changeJob: (id, with_) => void change(id, with_),
    asked,
    createJob: async (request: CreateJob, key) => {
      if (request.agent === 'nobody') throw new RepriseError('agent-unknown', 'there is no agent nobody')
      const body = JSON.stringify(request)
      const earlier = key === null ? undefined : keys.get(key)
      if (earlier && earlier.body !== body) {
        throw new RepriseError('conflict', `Idempotency-Key ${key} was used for another request`)
      }
      if (earlier) return { job: get(earlier.id), created: false }
      const { prompt, workDir, priority = 0 } = request
      const job = addJob({ prompt, workDir, priority })
      asked.push({ call: 'create', id: job.id, with: request })
      if (key !== null) keys.set(key, { id: job.id, body })
      return { job, created: true }
    },
    listJobs: async ({ limit, state }) => {
      const items = [...jobs.values()].reverse().filter((job) => state === undefined || job.state === state)
      return { items: items.slice(0, limit), nextCursor: items.length > limit ? 'more' : null }
    },
    getJob: async (id) => get(id),
    updateJob: async (id, { maxBudgetUsd, maxBudgetTokens, priority }) => {
      const job = get(id)
      asked.push({ call: 'update', id })
      return change(id, {
        maxBudgetUsd: maxBudgetUsd === undefined ? job.maxBudgetUsd : maxBudgetUsd,
        maxBudgetTokens: maxBudgetTokens === undefined ? job.maxBudgetTokens : maxBudgetTokens,
        priority: priority ?? job.priority,
      })
    },
    retryJob: async (id, options) => {
      if (get(id).state === 'running') throw new RepriseError('conflict', `job ${id} is running`)
      asked.push({ call: 'retry', id, with: options })
      return change(id, { state: 'queued' })
    },
    cancelJob: async (id) => {
      if (get(id).state === 'completed') throw new RepriseError('conflict', `job ${id} has ended already`)
      return change(id, { state: 'cancelled' })
    },
    diffCheckpoints: async (id, { from = 1, to = null }) => {
      get(id)
      return { from, to, files: [{ status: 'M', path: 'a.txt' }], patch: 'diff --git …\n', truncated: false }
    },
    restoreCheckpoint: async (id, restored) => {
      get(id)
      return { restored, saved: restored + 1 }
    },
    readTranscript: async (id) => {
      get(id)
      const encoder = new TextEncoder()
      return (async function* () {
        yield encoder.encode('{"type":"user","text":"ü"}\n')
        yield encoder.encode('{"type":"assistant"}\n')
      })()
    },
  }
}

function newJob(): JobDetail {
  const now = new Date()
  return {
    id: JobId.create(now),
    state: 'running',
    attention: null,
    message: null,
    waitingUntil: null,
    agent: 'claude',
    model: null,
    workDir: '/tmp',
    prompt: 'hello',
    permissions: 'edits',
    priority: 0,
    runId: RunId.create(now),
    outcome: null,
    resultText: null,
    sessionId: null,
    sessionSavedAt: null,
    session: null,
    attemptCount: 0,
    resumeCount: 0,
    timeoutMs: null,
    maxResumes: 5,
    maxTurns: null,
    maxTurnsTotal: null,
    maxBudgetUsd: null,
    maxBudgetTokens: null,
    usage: NO_USAGE,
    costUsd: null,
    costEstimated: false,
    spent: { usd: 0, tokens: 0, followUpRuns: 0 },
    progress: {
      modelCalls: 0,
      toolCalls: 0,
      tokens: 0,
      costUsd: null,
      elapsedMs: null,
      lastActivityAt: null,
      tool: null,
    },
    checkpointPolicy: null,
    createdAt: now.toISOString(),
    startedAt: null,
    endedAt: null,
    runIds: [],
    attempts: [],
    checkpoints: [],
    pending: [],
    archived: [],
  }
}
