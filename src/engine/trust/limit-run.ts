/**
 * Applies Reprise's own settings of the work directory to a run, before each of its attempts. What is limited is stored with the run, so
 * that a daemon which adopts its process later treats it the same way. Limits only add up: what an earlier attempt was forbidden stays
 * forbidden.
 */
import { PERMISSION_MODES } from '../../contract/create-run.ts'
import type { RunRecord, RunRequest } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { realWorkDir } from '../base/work-dir.ts'
import type { ProjectLimits } from './project.ts'
import type { Trust } from './trust.ts'

export interface LimitDeps {
  store: Pick<Store, 'limitRun'>
  trust: Pick<Trust, 'readProject'>
}

export async function limitRun(
  { store, trust }: LimitDeps,
  run: RunRecord,
): Promise<{ run: RunRecord; note: string | null }> {
  const { file, note } = await trust.readProject(await realWorkDir(run.workDir))
  if (file === null) return { run, note }
  const request = limited(run.request, file.limits)
  if (JSON.stringify(request) === JSON.stringify(run.request)) return { run, note }
  await store.limitRun(run.id, request)
  return { run: { ...run, request }, note: `${file.path} applies to this run.` }
}

export function limited(request: RunRequest, limits: ProjectLimits): RunRequest {
  const { chain, policy } = request
  return {
    ...request,
    permissions: stricter(request.permissions, limits.permissions),
    ...(limits.dryRun ? { dryRun: true as const } : {}),
    ...(limits.sandbox ? { sandbox: true } : {}),
    ...(chain && limits.maxTier !== undefined
      ? { chain: { ...chain, maxTier: Math.min(chain.maxTier, limits.maxTier) } }
      : {}),
    ...(limits.policy
      ? {
          policy: {
            never: joined(policy?.never, limits.policy.never),
            protectedPaths: joined(policy?.protectedPaths, limits.policy.protectedPaths),
          },
        }
      : {}),
  }
}

const joined = (before: readonly string[] = [], added: readonly string[]) => [
  ...new Set([...before, ...added]),
]

/** The modes are listed from the strictest. */
function stricter(asked: RunRequest['permissions'], limit: RunRequest['permissions'] | undefined) {
  if (limit === undefined) return asked
  return PERMISSION_MODES.indexOf(limit) < PERMISSION_MODES.indexOf(asked) ? limit : asked
}
