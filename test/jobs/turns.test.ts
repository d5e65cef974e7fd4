/**
 * Runs that reach their turn limit, on the real CLI: they continue by themselves if requested, or when the limit is
 * raised.
 */
import { afterEach, expect, it } from 'vitest'
import type { Job } from '../../src/contract/job.ts'
import { jobEnds, runJob } from '../support/jobs.ts'
import { World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const work = { tool: 'Bash', input: { command: 'true', description: 'work' } }

it('continues in its session up to its total turns; otherwise a retry raises the limit', async () => {
  world = await World.create({
    name: 'turns',
    rules: [
      {
        when: '/^work$/',
        reply: [work, { await: 'results' }, work, { await: 'results' }, { text: 'Done.' }],
      },
      { reply: 'Going on.' },
    ],
  })
  await world.startDaemon()
  const limits = { prompt: 'work', permissions: 'allow', maxTurns: 1 } as const
  const job = await runJob(world, { ...limits, continue: true, maxTurnsTotal: 3 })
  expect(job).toMatchObject({ state: 'completed', resultText: 'Going on.', attemptCount: 2, resumeCount: 1 })
  const notes = (await world.events(job.runId)).flatMap((event) =>
    event.type === 'note' ? [event.text] : [],
  )
  expect(notes).toEqual([expect.stringMatching(/; continuing, 2 turns are left$/)])

  const limited = await runJob(world, limits)
  expect(limited).toMatchObject({ state: 'paused', attention: 'turn-limit', attemptCount: 1 })
  await world.api<Job>('POST', `/api/jobs/${limited.id}/retry?maxTurns=7`)
  const ended = await jobEnds(world, limited.id)
  expect(ended).toMatchObject({ state: 'completed', resultText: 'Going on.' })
  const stream = await (await world.request('GET', `/api/jobs/${limited.id}/events`)).text()
  const ids = [...stream.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
  const stored = await Promise.all(ended.runIds.map((runId) => world.events(runId)))
  expect(stored).toHaveLength(2)
  expect(ids).toEqual([...stored.flat().map(({ runId, seq }) => `${runId}:${seq}`), `${ended.runId}:end`])
  expect(
    await world.request('POST', '/api/jobs', { ...limits, workDir: world.workDir, maxTurnsTotal: 9 }),
  ).toMatchObject({ status: 400 })
})
