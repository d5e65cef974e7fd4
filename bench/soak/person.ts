/**
 * The simulated person of a soak: allows what is asked, raises budgets, continues what was held back, says something to an agent at
 * work, sometimes cancels a job and continues it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from '../../src/contract/http.ts'
import type { Job } from '../../src/contract/job.ts'
import type { Run } from '../../src/contract/run.ts'
import { until } from '../../test/support/world.ts'
import type { AdmittedJob, Round } from './admitted.ts'
import { ask, read } from './ask.ts'
import type { Random } from './random.ts'
import { isTask, messageOf, promptsIn } from './scenario.ts'

const LOOK_EVERY_MS = 150
const PATIENCE_MS = 120_000
const PLENTY = 100_000_000
/** For each look at a running run. */
const SAY_CHANCE = 0.02

export async function attend(round: Round, random: Random, quiet: AbortSignal): Promise<void> {
  while (!quiet.aborted) {
    for (const run of await readRunning(round)) {
      await answerAll(round, run)
      if (random.chance(SAY_CHANCE)) await say(round, run)
    }
    for (const { id, attention } of await list(round, 'paused')) {
      if (attention === 'quarantine') await ask(round, 'POST', `/api/jobs/${id}/retry`)
      if (attention !== 'budget') continue
      const maxBudgetTokens = random.chance(0.5) ? null : PLENTY
      await ask(round, 'PATCH', `/api/jobs/${id}`, { body: { maxBudgetTokens } })
    }
    for (const { id } of await list(round, 'waiting')) {
      if (random.chance(0.02)) await ask(round, 'POST', `/api/jobs/${id}/retry`)
    }
    await delay(LOOK_EVERY_MS)
  }
}

const readRunning = async (round: Round): Promise<Run[]> =>
  (await read<Page<Run>>(round, '/api/runs?state=running&limit=50'))?.items ?? []

async function answerAll(round: Round, run: Run): Promise<void> {
  for (const { toolUseId } of run.pending) {
    const body = { toolUseId, decision: 'allow' }
    await ask(round, 'POST', `/api/runs/${run.id}/tool-result`, { body })
  }
}

/** At most one message for each run. A daemon that died may have stored it, so it is said once whatever the answer is. */
async function say(round: Round, run: Run): Promise<void> {
  const tag = promptsIn(run.prompt).at(-1)
  if (!round.mixed || tag === undefined || isTask(tag, 'chain') || round.messages.has(run.id)) return
  round.messages.add(run.id)
  await ask(round, 'POST', `/api/runs/${run.id}/messages`, { body: { text: messageOf(tag) } })
}

const list = async (round: Round, state: Job['state']): Promise<Job[]> =>
  (await read<Page<Job>>(round, `/api/jobs?state=${state}&limit=50`))?.items ?? []

/** Resolves when the job is cancelled, and continued if its work says so; or when it ended before that. */
export async function cancelJob(round: Round, entry: AdmittedJob, afterMs: number): Promise<void> {
  const { tag, id, work } = entry
  await delay(afterMs)
  entry.cancelled = true
  await insist(round, `/api/jobs/${id}/cancel`)
  const { state } = await until(
    async () => {
      const job = await read<Job>(round, `/api/jobs/${id}`)
      return job && ['cancelled', 'completed', 'failed'].includes(job.state) ? job : null
    },
    `${tag} to be cancelled`,
    PATIENCE_MS,
  )
  if (state !== 'cancelled' || work.afterCancel === 'leave') return
  const status = await insist(round, `/api/jobs/${id}/retry?resume=${work.afterCancel === 'resume'}`)
  // The daemon may have died after it had stored the retry: then the job can no longer be retried.
  if (status !== 202 && status !== 409)
    round.seen.push(`${tag} (${id}): its retry was answered with ${status}`)
  entry.cancelled = false
}

/** Repeats the request until a daemon has answered. */
async function insist(round: Round, path: string): Promise<number> {
  return until(
    async () => {
      const status = (await ask(round, 'POST', path))?.status ?? 500
      return status >= 500 ? null : status
    },
    `an answer to POST ${path}`,
    PATIENCE_MS,
  )
}
