import { RepriseError } from '../../contract/errors.ts'
import type { JobId } from '../../contract/ids.ts'
import type { JobRecord } from '../../store/jobs/records.ts'
import type { Store } from '../../store/store.ts'

/** Returns the job, or throws `not-found`. */
export async function requireJob(store: Pick<Store, 'getJob'>, id: JobId): Promise<JobRecord> {
  const job = await store.getJob(id)
  if (job) return job
  throw new RepriseError('not-found', `there is no job ${id}`, { hint: '`reprise jobs` lists them.' })
}
