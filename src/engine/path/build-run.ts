/**
 * Builds the record of a new run. This is the only place that knows what every run has. The links that the caller adds
 * define the purpose of the run (a job, a turn, a tier, a follow-up).
 */
import { randomUUID } from 'node:crypto'
import { RunId } from '../../contract/ids.ts'
import type { NewRun, RunRequest } from '../../store/runs/records.ts'

/** What the caller must specify. The rest of the request has defaults. */
export type RunSpec = Omit<NewRun, 'id' | 'idempotencyKey' | 'promptId' | 'request'> & {
  idempotencyKey?: string | null
  /** Set if the prompt already has an id. */
  promptId?: string
  request: Pick<RunRequest, 'permissions'> & Partial<RunRequest>
}

export function buildRun({
  idempotencyKey = null,
  promptId = randomUUID(),
  request,
  ...spec
}: RunSpec): NewRun {
  const { dryRun, sandbox, ...asked } = request
  return {
    ...spec,
    id: RunId.create(spec.createdAt),
    idempotencyKey,
    promptId,
    request: {
      forceFreshSession: false,
      maxDurationMs: null,
      maxResumes: null,
      maxTurns: null,
      maxBudgetUsd: null,
      ...asked,
      ...(dryRun ? { dryRun } : {}),
      ...(sandbox === undefined ? {} : { sandbox }),
    },
  }
}
