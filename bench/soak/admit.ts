/**
 * Work counts as admitted once a daemon has confirmed it; until then it is requested again with the same idempotency
 * key, whatever happened to the daemon meanwhile.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { CreateJob } from '../../src/contract/create-job.ts'
import type { CreateRun } from '../../src/contract/create-run.ts'
import { until, type World } from '../../test/support/world.ts'
import type { Admitted, AdmittedJob, Round } from './admitted.ts'
import { quietly, Refused } from './quietly.ts'
import type { Random } from './random.ts'
import { promptOf } from './scenario.ts'
import { type JobWork, jobDir, type RunWork } from './work.ts'

const WITHIN_MS = 60_000

export async function admitRun({ world, admitted }: Round, work: RunWork, random: Random): Promise<void> {
  const { tag, permissions } = work
  const session = work.inSession ? await sessionOf(world, random.pick(admitted)) : null
  const request: CreateRun = {
    prompt: promptOf(tag),
    workDir: world.workDir,
    permissions,
    ...(session ? { sessionId: session } : {}),
  }
  const entry: Admitted = { tag, id: await admit(world, '/api/runs', request, tag), cancelled: false }
  admitted.push(entry)
  if (work.cancelAfterMs === null) return
  await delay(work.cancelAfterMs)
  entry.cancelled = true
  await quietly(() => world.api('POST', `/api/runs/${entry.id}/cancel`))
}

export async function admitJob({ world, jobs, seen }: Round, work: JobWork): Promise<AdmittedJob> {
  const request: CreateJob = {
    prompt: promptOf(work.tag),
    workDir: jobDir(world, work.dir),
    permissions: work.permissions,
    priority: work.priority,
    maxResumes: work.maxResumes,
    ...(work.timeoutMs === null ? {} : { timeoutMs: work.timeoutMs }),
    ...(work.maxBudgetTokens === null ? {} : { maxBudgetTokens: work.maxBudgetTokens }),
  }
  const id = await admit(world, '/api/jobs', request, work.tag)
  const entry: AdmittedJob = { tag: work.tag, id, work, cancelled: false }
  jobs.push(entry)
  if (work.askTwice) {
    const again = await admit(world, '/api/jobs', request, work.tag)
    if (again !== id)
      seen.push(`${work.tag}: requested twice with one key, it got the ids ${id} and ${again}`)
  }
  return entry
}

async function admit(world: World, path: string, request: object, key: string): Promise<string> {
  return until(
    () =>
      quietly(async () => {
        const response = await world.request('POST', path, request, { 'idempotency-key': key })
        if (response.status >= 500) return null
        if (!response.ok) throw new Refused(`POST ${path}: ${response.status} ${await response.text()}`)
        return ((await response.json()) as { id: string }).id
      }),
    `${key} to be admitted`,
    WITHIN_MS,
  )
}

const sessionOf = (world: World, run: Admitted | undefined) =>
  run ? quietly(async () => (await world.getRun(run.id)).session) : null

/** null: the daemon is down. */
export async function countOpen(world: World): Promise<number | null> {
  const status = await quietly(() =>
    world.api<{ runs: { queued: number; running: number } }>('GET', '/api/status'),
  )
  return status && status.runs.queued + status.runs.running
}
