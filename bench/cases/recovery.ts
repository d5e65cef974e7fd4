/**
 * The daemon is killed with `kill -9` while agents work, and started again. `adopted`: from its start until it owns
 * every open attempt, that is, until each has a new fence; from then on agent output is stored and questions are
 * answered. Then all agents are released at once. `completed`: from its start until every job has completed. Measured
 * with fifty in progress ÷ with one. Both include starting Node and opening the database.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from '../../src/contract/http.ts'
import type { Job } from '../../src/contract/job.ts'
import { createJob } from '../../test/support/jobs.ts'
import { until, World } from '../../test/support/world.ts'
import type { Benchmark } from '../benchmark.ts'
import { figure } from '../figure.ts'
import { interleave, ratios } from '../measure.ts'
import { STAND_IN_PROMPTS, type StandIn, writeStandIn } from '../stand-in.ts'

const POLL_MS = 5
const WITHIN_MS = 120_000

export const recovery: Benchmark = {
  name: 'recovery',
  about:
    'Recovery after kill -9 of the daemon with many jobs in progress ÷ with one: from the start of the next daemon until it has adopted every attempt, and until every job has completed (the agents are released once they are adopted).',
  run: async ({ short }) => {
    const many = short ? 2 : 50
    const world = await World.create({ name: 'recovery', rules: [{ reply: 'unused' }] })
    try {
      const agent = writeStandIn(world)
      await world.configure({ agents: agent.agents, run: { concurrency: many } })
      for (let n = 0; n < many; n++) mkdirSync(join(world.workDir, `${n}`))
      // One start with a regular end comes first: only then does Node keep its compile cache, which every later start
      // uses.
      await world.startDaemon()
      await world.killDaemon('SIGTERM')
      await world.startDaemon()
      const adopted: Record<'one' | 'many', number[]> = { one: [], many: [] }
      const side = (name: keyof typeof adopted, count: number) => async () => {
        const times = await recover(world, agent, count)
        adopted[name].push(times.adoptedMs)
        return times.completedMs
      }
      const completed = await interleave({ one: side('one', 1), many: side('many', many) }, short ? 1 : 10)
      // The first sample of each is a warm-up.
      for (const samples of Object.values(adopted)) samples.shift()
      return [
        figure(`all adopted, ${many} in flight ÷ 1`, '×', ratios(adopted.many, adopted.one)),
        figure(`all completed, ${many} in flight ÷ 1`, '×', ratios(completed.many, completed.one)),
        figure(`all adopted, ${many} in flight`, 'ms', adopted.many),
        figure('all adopted, 1 in flight', 'ms', adopted.one),
        figure(`all completed, ${many} in flight`, 'ms', completed.many),
        figure('all completed, 1 in flight', 'ms', completed.one),
      ]
    } finally {
      await world.close()
    }
  },
}

async function recover(
  world: World,
  agent: StandIn,
  count: number,
): Promise<{ adoptedMs: number; completedMs: number }> {
  const jobs = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      createJob(world, {
        prompt: STAND_IN_PROMPTS.hold,
        agent: agent.name,
        workDir: join(world.workDir, `${n}`),
      }),
    ),
  )
  for (const { runId } of jobs) await world.waitForEvent(runId, (event) => event.type === 'session-start')
  await world.killDaemon('SIGKILL')

  const database = new DatabaseSync(join(world.home, 'reprise.db'), { readOnly: true })
  const open = database.prepare(
    "select count(*) as n, sum(fence) as fences from attempts where state <> 'ended'",
  )
  const left = open.get() as { n: number; fences: number }
  if (left.n !== count) throw new Error(`${left.n} attempts are open, not ${count}`)
  try {
    const from = performance.now()
    const started = world.startDaemon()
    while (Number(open.get()?.fences) < left.fences + count) await delay(POLL_MS)
    const adoptedMs = performance.now() - from
    await agent.letGo()
    await started
    const ids = new Set(jobs.map(({ id }) => id))
    await until(
      async () => {
        const { items } = await world.api<Page<Job>>('GET', `/api/jobs?state=completed&limit=${count}`)
        return items.length === count && items.every(({ id }) => ids.has(id))
      },
      `${count} jobs to complete`,
      WITHIN_MS,
    )
    return { adoptedMs, completedMs: performance.now() - from }
  } finally {
    database.close()
  }
}
