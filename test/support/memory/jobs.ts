/** Jobs of a stage, as a user of the engine sees them. */
import type { CreateJob } from '../../../src/contract/create-job.ts'
import { JobId } from '../../../src/contract/ids.ts'
import type { JobDetail } from '../../../src/contract/job.ts'
import type { Stage } from './stage.ts'

export async function createJob(stage: Stage, request: Partial<CreateJob> = {}): Promise<JobId> {
  const asked = { prompt: 'do it', workDir: stage.workDir, checkpoints: false, ...request }
  const { job } = await stage.engine.createJob(asked, null)
  if (!JobId.is(job.id)) throw new Error(job.id)
  return job.id
}

export async function jobIs(stage: Stage, id: JobId, fits: (job: JobDetail) => boolean): Promise<JobDetail> {
  await stage.until(async () => fits(await stage.engine.getJob(id)))
  return stage.engine.getJob(id)
}

/** Resolves when the run that works on the job has ended: the job is over, or needs a person. */
export async function jobEnds(stage: Stage, id: JobId): Promise<JobDetail> {
  await stage.settled((await stage.engine.getJob(id)).runId)
  return stage.engine.getJob(id)
}

export const runJob = async (stage: Stage, request: Partial<CreateJob> = {}): Promise<JobDetail> =>
  jobEnds(stage, await createJob(stage, request))

export async function retryJob(stage: Stage, id: JobId, resume = true): Promise<JobDetail> {
  await stage.engine.retryJob(id, { resume })
  return jobEnds(stage, id)
}
