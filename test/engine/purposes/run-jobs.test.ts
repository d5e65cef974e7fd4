/** A job that is asked for more than once with the same key. */
import { afterEach, expect, test } from 'vitest'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
afterEach(() => stage.close())

test('a key makes one job, which runs once, and is refused for another one', async () => {
  stage = await Stage.open()
  const create = (change: object = {}) =>
    stage.engine.createJob({ prompt: 'hello', workDir: stage.workDir, checkpoints: false, ...change }, 'once')
  const first = await create()
  const again = await create()
  expect([first.created, again.created, again.job.id]).toEqual([true, false, first.job.id])
  for (const change of [{ prompt: 'other' }, { priority: 1 }])
    await expect(create(change)).rejects.toMatchObject({ code: 'conflict' })
  await stage.settled(first.job.runId)
  expect((await stage.engine.listJobs({ limit: 10 })).items).toMatchObject([
    { id: first.job.id, state: 'completed', attemptCount: 1 },
  ])
})
