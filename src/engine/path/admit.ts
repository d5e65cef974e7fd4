/** Step 1 of the one path: check what was asked for, then store it. After that it will be done. */
import { randomUUID } from 'node:crypto'
import { RepriseError } from '../../contract/errors.ts'
import { RunId } from '../../contract/ids.ts'
import type { CreateRun } from '../../contract/run.ts'
import type { NewRun, RunRecord } from '../../store/base/records.ts'
import type { EngineParts } from '../parts.ts'
import { firstTierRun } from '../tiers/tier-run.ts'
import { type Checked, checkRequest } from './check-request.ts'
import { turnLimitsOf } from './turn-limits.ts'

export async function admitRun(
  parts: EngineParts,
  request: CreateRun,
  idempotencyKey: string | null,
): Promise<{ run: RunRecord; created: boolean }> {
  const checked = await checkRequest(parts, request)
  const run =
    request.tier === undefined ? newRun(parts, request, checked) : firstTierRun(parts, request, checked)
  return parts.store.admitRun({ ...run, idempotencyKey })
}

const ONLY_WITH_TIER = ['maxTier', 'environment', 'approved'] as const

/** A run as it was asked for. Whose it is, is said by who admits it. */
export function newRun(
  { clock, settings }: EngineParts,
  request: Omit<CreateRun, 'agent' | 'sessionId'>,
  { agent, session }: Checked,
): NewRun {
  for (const name of ONLY_WITH_TIER) {
    if (request[name] !== undefined) {
      throw new RepriseError('bad-request', `${name}: has a meaning only together with tier`)
    }
  }
  const now = clock.now()
  return {
    id: RunId.create(now),
    idempotencyKey: null,
    agent,
    model: request.model ?? null,
    workDir: request.workDir,
    prompt: request.prompt,
    promptId: randomUUID(),
    request: {
      permissions: request.permissions ?? settings.permissions,
      forceFreshSession: request.forceFreshSession ?? false,
      maxDurationMs: request.maxDurationMs ?? null,
      maxResumes: request.maxResumes ?? null,
      ...turnLimitsOf(request),
      maxBudgetUsd: request.maxBudgetUsd ?? null,
      ...(request.dryRun || settings.dryRun ? { dryRun: true } : {}),
    },
    sessionId: session,
    createdAt: now,
  }
}
