/** The simulated person of a soak: allows what is asked, raises budgets, sometimes cancels a job and continues it. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from '../../src/contract/http.ts'
import type { Job } from '../../src/contract/job.ts'
import type { Run } from '../../src/contract/run.ts'
import { until, type World } from '../../test/support/world.ts'
import type { AdmittedJob, Round } from './admitted.ts'
import { quietly } from './quietly.ts'
import type { Random } from './random.ts'

const LOOK_EVERY_MS = 150
const PATIENCE_MS = 120_000
const PLENTY = 100_000_000

export async function attend({ world }: Round, random: Random, quiet: AbortSignal): Promise<void> {
  while (!quiet.aborted) {
    await answerAll(world)
    for (const { id, attention } of await list(world, 'paused')) {
      if (attention !== 'budget') continue
      const maxBudgetTokens = random.chance(0.5) ? null : PLENTY
      await quietly(() => world.api('PATCH', `/api/jobs/${id}`, { maxBudgetTokens }))
    }
    for (const { id } of await list(world, 'waiting')) {
      if (random.chance(0.02)) await quietly(() => world.api('POST', `/api/jobs/${id}/retry`))
    }
    await delay(LOOK_EVERY_MS)
  }
}

async function answerAll(world: World): Promise<void> {
  const page = await quietly(() => world.api<Page<Run>>('GET', '/api/runs?state=running&limit=50'))
  for (const run of page?.items ?? []) {
    for (const { toolUseId } of run.pending) {
      await quietly(() =>
        world.api('POST', `/api/runs/${run.id}/tool-result`, { toolUseId, decision: 'allow' }),
      )
    }
  }
}

const list = async (world: World, state: Job['state']): Promise<Job[]> =>
  (await quietly(() => world.api<Page<Job>>('GET', `/api/jobs?state=${state}&limit=50`)))?.items ?? []

/** Resolves when the job is cancelled, and continued if its work says so; or when it ended before that. */
export async function cancelJob({ world, seen }: Round, entry: AdmittedJob, afterMs: number): Promise<void> {
  const { tag, id, work } = entry
  await delay(afterMs)
  entry.cancelled = true
  await insist(world, `/api/jobs/${id}/cancel`)
  const { state } = await until(
    async () => {
      const job = await quietly(() => world.api<Job>('GET', `/api/jobs/${id}`))
      return job && ['cancelled', 'completed', 'failed'].includes(job.state) ? job : null
    },
    `${tag} to be cancelled`,
    PATIENCE_MS,
  )
  if (state !== 'cancelled' || work.afterCancel === 'leave') return
  const status = await insist(world, `/api/jobs/${id}/retry?resume=${work.afterCancel === 'resume'}`)
  // The daemon may have died after it had stored the retry: then the job can no longer be retried.
  if (status !== 202 && status !== 409) seen.push(`${tag} (${id}): its retry was answered with ${status}`)
  entry.cancelled = false
}

/** Repeats the request until a daemon has answered. */
async function insist(world: World, path: string): Promise<number> {
  return until(
    () =>
      quietly(async () => {
        const { status } = await world.request('POST', path)
        return status >= 500 ? null : status
      }),
    `an answer to POST ${path}`,
    PATIENCE_MS,
  )
}
