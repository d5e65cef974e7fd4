/** Admits a job: checks the request, then stores the job and its first run together, once per idempotency key. */
import { createHash } from 'node:crypto'
import type { CheckpointPolicy } from '../../contract/checkpoint.ts'
import type { CreateJob } from '../../contract/create-job.ts'
import { JobId } from '../../contract/ids.ts'
import type { Git } from '../../process/git/run.ts'
import type { JobRecord } from '../../store/jobs/records.ts'
import type { Store } from '../../store/store.ts'
import type { JobSettings } from '../base/settings.ts'
import { type NewRunDeps, newRun } from '../path/admit.ts'
import { type CheckDeps, checkRequest } from '../path/check-request.ts'
import { findTop } from './checkpoint-errors.ts'
import { holdsPlace } from './next-run.ts'

export type AdmitJobDeps = CheckDeps &
  NewRunDeps & {
    store: Pick<Store, 'admitJob' | 'findJobByKey'>
    git: Git
    settings: { jobs: JobSettings }
  }

export async function admitJob(
  deps: AdmitJobDeps,
  request: CreateJob,
  idempotencyKey: string | null,
): Promise<{ job: JobRecord; created: boolean }> {
  const { store, settings } = deps
  // A repeated request returns the existing job, even if its directory no longer exists.
  const requestHash = hashOf(request)
  const known = idempotencyKey === null ? null : await store.findJobByKey(idempotencyKey, requestHash)
  if (known) return { job: known, created: false }
  const checked = await checkRequest(deps, request)
  const policy = checkpointPolicyOf(request, settings.jobs)
  const required = request.checkpoints !== undefined
  const workTree = policy && (await findTop(deps.git, checked.place, required))
  const checkpoints = workTree === null ? null : policy
  const { prompt, workDir, model, permissions, sandbox, forceFreshSession, maxResumes } = request
  const turns = {
    maxTurns: request.maxTurns,
    continue: request.continue,
    maxTurnsTotal: request.maxTurnsTotal,
  }
  const wish = { prompt, workDir, model, permissions, sandbox, forceFreshSession, maxResumes, ...turns }
  const run = newRun(deps, { ...wish, maxDurationMs: request.timeoutMs }, checked)
  const id = JobId.create(run.createdAt)
  const priority = request.priority ?? 0
  // The place is the work tree: the checkpoints of two jobs in different folders of it would include each other's
  // files.
  const place = workTree ?? checked.place
  return store.admitJob({
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
}

function checkpointPolicyOf({ checkpoints }: CreateJob, settings: JobSettings): CheckpointPolicy | null {
  if (!(checkpoints ?? settings.checkpoints)) return null
  const wish = typeof checkpoints === 'object' ? checkpoints : {}
  return {
    everyMs: wish.everyMs ?? settings.checkpointPolicy.everyMs,
    onChange: wish.onChange ?? settings.checkpointPolicy.onChange,
  }
}

const hashOf = (request: CreateJob) => {
  const sorted = Object.entries(request)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 32)
}
