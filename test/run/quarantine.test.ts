/** A daemon that dies repeatedly because of one agent's output: that run is held, and all other runs continue. */
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, expect, it } from 'vitest'
import type { Status } from '../../src/contract/http.ts'
import type { Job } from '../../src/contract/job.ts'
import { createJob, getJob, jobIs, retryJob } from '../support/jobs.ts'
import { REPRISE, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

it('learns which run it died of, holds that run, ends its agent, and continues with the others', async () => {
  world = await World.create({
    name: 'poison',
    rules: [
      { when: '/^healthy$/', reply: [{ text: 'Thinking.' }, { hold: 'gate' }, { text: ' Done.' }] },
      { when: '/^poisonous$/', reply: [{ text: 'This is a poisonous answer.' }, { hold: 'never' }] },
      { reply: 'You said: ${user}' },
    ],
  })
  world.env.NODE_OPTIONS = `--import ${resolve(import.meta.dirname, '../support/poison.mjs')}`
  await world.startDaemon()
  const healthy = await createJob(world, { prompt: 'healthy' })
  await world.simulator.waitForHold('gate')
  const poisonous = await createJob(world, { prompt: 'poisonous', workDir: world.dir })
  await world.daemonDeath()
  // The daemon may die before it reports that it is ready.
  await world.startDaemon().catch(() => {})
  await world.daemonDeath()
  await world.startDaemon()

  const held: Job = await getJob(world, poisonous.id)
  expect(held).toMatchObject({ state: 'paused', attention: 'quarantine', outcome: 'quarantined' })
  expect(held.message).toMatch(/^the daemon died twice while it was reading the output of its agent/)
  const agents = world.processes().filter(({ command }) => /claude.* -p /.test(command))
  expect(agents.filter(({ command }) => !command.includes('keeper'))).toHaveLength(1)
  const status = await world.api<Status>('GET', '/api/status')
  expect(status.quarantined).toEqual([
    { runId: held.runId, jobId: held.id, at: expect.any(String), why: held.message },
  ])
  const { stdout } = await promisify(execFile)(REPRISE, ['status'], { env: world.env })
  expect(stdout).toContain(`held back ${held.id} since`)

  await world.simulator.release('gate')
  await jobIs(world, healthy.id, ({ state }) => state === 'completed')
  // After the cause is fixed, a person continues the run.
  await world.killDaemon()
  delete world.env.NODE_OPTIONS
  await world.simulator.release('never')
  await world.startDaemon()
  await retryJob(world, held.id)
  await jobIs(world, held.id, ({ state }) => state === 'completed')
  expect(world.processes()).toEqual([])
})
