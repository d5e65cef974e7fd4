/**
 * Builds the record of a new run: the one place that knows what every run has. What it is for (a job, a turn, a tier, a
 * follow-up) is said by the links that the caller adds.
 */
import { randomUUID } from 'node:crypto'
import { RunId } from '../../contract/ids.ts'
import type { NewRun, RunRequest } from '../../store/runs/records.ts'

/** What must be said about a run. The rest of the request has defaults. */
export type RunSpec = Omit<NewRun, 'id' | 'idempotencyKey' | 'promptId' | 'request'> & {
  idempotencyKey?: string | null
  /** Where the prompt was given an id before. */
  promptId?: string
  request: Pick<RunRequest, 'permissions'> & Partial<RunRequest>
}

export function buildRun({
  idempotencyKey = null,
  promptId = randomUUID(),
  request,
  ...spec
}: RunSpec): NewRun {
  const { dryRun, ...asked } = request
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
    },
  }
}
