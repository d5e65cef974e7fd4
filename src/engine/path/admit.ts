/** Step 1 of the one path: check what was asked for, then store it. After that it will be done. */
import type { CreateRun, PermissionMode } from '../../contract/create-run.ts'
import type { Clock } from '../../core/clock.ts'
import type { NewRun, RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { buildRun } from './build-run.ts'
import { type CheckDeps, type Checked, checkRequest } from './check-request.ts'
import { turnLimitsOf } from './turn-limits.ts'

export interface NewRunDeps {
  clock: Clock
  settings: { permissions: PermissionMode; dryRun: boolean }
}

export type AdmitDeps = CheckDeps & NewRunDeps & { store: Pick<Store, 'admitRun'> }

/** `build` creates the run from the request; purposes may provide their own. */
export async function admitRun(
  deps: AdmitDeps,
  request: CreateRun,
  idempotencyKey: string | null,
  build: (request: CreateRun, checked: Checked) => NewRun = (...asked) => newRun(deps, ...asked),
): Promise<{ run: RunRecord; created: boolean }> {
  const run = build(request, await checkRequest(deps, request))
  return deps.store.admitRun({ ...run, idempotencyKey })
}

/** Builds a run from the request. The caller adds the links that define its purpose. */
export function newRun(
  { clock, settings }: NewRunDeps,
  request: Omit<CreateRun, 'agent' | 'sessionId'>,
  { agent, session }: Checked,
): NewRun {
  return buildRun({
    agent,
    model: request.model ?? null,
    workDir: request.workDir,
    prompt: request.prompt,
    request: {
      permissions: request.permissions ?? settings.permissions,
      forceFreshSession: request.forceFreshSession ?? false,
      maxDurationMs: request.maxDurationMs ?? null,
      maxResumes: request.maxResumes ?? null,
      ...turnLimitsOf(request),
      maxBudgetUsd: request.maxBudgetUsd ?? null,
      ...(request.dryRun || settings.dryRun ? { dryRun: true } : {}),
      sandbox: request.sandbox,
    },
    sessionId: session,
    createdAt: clock.now(),
  })
}
