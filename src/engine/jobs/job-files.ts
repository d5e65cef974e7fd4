/** The part of the public interface of jobs that is about files: checkpoints of the work tree, and the transcript. */

import type { AgentRegistry } from '../../agents/registry.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { JobId } from '../../contract/ids.ts'
import { openUntrusted } from '../../files/untrusted.ts'
import type { JobRecord } from '../../store/jobs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import type { Mirror } from '../mirror/mirror.ts'
import type { JobEngine } from './api.ts'
import type { Checkpoints } from './checkpoints.ts'
import { requireJob } from './require-job.ts'
import { type RewindDeps, rewindJob } from './rewind.ts'

export type JobFilesDeps = RewindDeps & {
  store: Pick<Store, 'getJob' | 'getRun' | 'getSession'>
  agents: Pick<AgentRegistry, 'get'>
  checkpoints: Pick<Checkpoints, 'diff' | 'restore'>
  mirrors: Pick<Mirror, 'readTranscript'>
}

export interface JobFilesHooks {
  /** Keeps jobs out of a place while `work` runs there; null if a job is using the place. */
  occupy: <T>(place: string, work: () => Promise<T>) => Promise<T> | null
}

export function createJobFiles(
  deps: JobFilesDeps,
  { occupy }: JobFilesHooks,
): Pick<JobEngine, 'diffCheckpoints' | 'restoreCheckpoint' | 'rewindJob' | 'readTranscript'> {
  const { store, checkpoints } = deps
  /** Changes files of a job that has ended, while no other job works in its directory. */
  const alone = async <T>(id: JobId, change: (job: JobRecord) => Promise<T>): Promise<T> => {
    const job = await requireJob(store, id)
    const run = await store.getRun(job.runId)
    const open = run !== null && run.state.at !== 'settled'
    const changed = open ? null : occupy(run?.place ?? job.id, () => change(job))
    if (changed) return changed
    throw new RepriseError('conflict', `${open ? `job ${id}` : 'another job'} is using that directory`, {
      hint: 'Wait until it has ended, or cancel it first.',
    })
  }
  return {
    diffCheckpoints: async (id, range) => checkpoints.diff(await requireJob(store, id), range),
    restoreCheckpoint: (id, checkpoint) => alone(id, (job) => checkpoints.restore(job, checkpoint)),
    rewindJob: (id, checkpoint) => alone(id, (job) => rewindJob(deps, job, checkpoint)),
    readTranscript: async (id) => {
      const job = await requireJob(store, id)
      const run = await store.getRun(job.runId)
      const session = run?.sessionId ? await store.getSession(run.sessionId) : null
      const transcript = session && (await openTranscript(deps, job, session))
      if (transcript) return transcript
      throw new RepriseError('not-found', `there is no transcript of job ${id}`, {
        hint: 'The job may not have started, or its transcript is older than keep.transcripts.',
      })
    },
  }
}

/** While a job runs, the agent's own file is newer than its mirror. */
async function openTranscript(
  { mirrors, agents }: JobFilesDeps,
  { state }: JobRecord,
  { id, agent, agentSessionId, workDir }: SessionRecord,
): Promise<AsyncIterable<Uint8Array> | null> {
  const kept = state === 'running' ? null : await mirrors.readTranscript({ id, agentSessionId })
  if (kept) return kept
  const { adapter, env } = agents.get(agent)
  const files = await adapter.locateSession(agentSessionId, env, workDir)
  const file = files && (await openUntrusted(files.transcript, { followLink: true }))
  return file?.createReadStream() ?? null
}
