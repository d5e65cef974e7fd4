/** Jobs of a world, as a user of the HTTP API sees them. */
import type { CreateJob } from '../../src/contract/create-job.ts'
import type { Job, JobDetail } from '../../src/contract/job.ts'
import { until, type World } from './world.ts'

export const createJob = (world: World, request: Partial<CreateJob> & { prompt: string }): Promise<Job> =>
  world.api('POST', '/api/jobs', { workDir: world.workDir, ...request })

export const getJob = (world: World, id: string): Promise<JobDetail> => world.api('GET', `/api/jobs/${id}`)

/** Resolves when the run that works on the job has ended: the job is over, or needs a person. */
export async function jobEnds(world: World, id: string): Promise<JobDetail> {
  const { runId } = await getJob(world, id)
  await world.waitForEvent(runId, (event) => event.type === 'run-end')
  return getJob(world, id)
}

export async function runJob(
  world: World,
  request: Partial<CreateJob> & { prompt: string },
): Promise<JobDetail> {
  return jobEnds(world, (await createJob(world, request)).id)
}

export const retryJob = (world: World, id: string, resume = true): Promise<Job> =>
  world.api('POST', `/api/jobs/${id}/retry?resume=${resume}`)

/** Waits for a state that changes without an event. */
export function jobIs(world: World, id: string, fits: (job: JobDetail) => boolean): Promise<JobDetail> {
  return until(async () => {
    const job = await getJob(world, id)
    return fits(job) ? job : null
  }, `job ${id}`)
}
