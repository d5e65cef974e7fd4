/** What happens to a run that does not start: something is in its way, its budget is used up, or its agent cannot run. */
import { rmSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { answers } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

let stage: Stage
const open = async (options?: StageOptions) => {
  stage = await Stage.open(options)
}
afterEach(() => stage.close())

test('an agent that cannot be started ends the run; nothing crashed', async () => {
  await open()
  stage.processes.failLaunch('no such file')
  expect(await stage.run()).toMatchObject({ outcome: 'cancelled', message: 'not started: no such file' })
})

test('a work directory that is gone ends the run', async () => {
  await open({ settings: { concurrency: 0 } })
  const id = await stage.admit()
  rmSync(stage.workDir, { recursive: true })
  await stage.drop()
  await stage.reopen({ settings: { concurrency: 1 } })
  expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled', attemptCount: 0 })
  expect((await stage.engine.getRun(id)).message).toContain(stage.workDir)
})

test('a limit that another run has met is waited for, and no agent is started for it', async () => {
  await open()
  const resetsAt = new Date(Date.now() + 3_600_000).toISOString()
  stage.play(answers('', { outcome: { name: 'rate-limited', message: 'limit reached', resetsAt } }))
  const first = await stage.admit()
  await stage.until(async () => (await stage.engine.getRun(first)).message !== null)
  const second = await stage.admit()
  await stage.until(async () => (await stage.engine.getRun(second)).message !== null)
  expect(await stage.engine.getRun(second)).toMatchObject({ state: 'queued', attemptCount: 0 })
  expect(stage.processes.starts()).toHaveLength(1)
})

test('a run whose budget is used up ends before its agent is started', async () => {
  await open({
    purposes: (plain) => [
      {
        ...plain,
        name: 'poor',
        claims: ({ prompt }) => prompt === 'spend',
        readAllowance: async () => ({ budget: { usd: 1, tokens: null }, before: { usd: 1, tokens: 0 } }),
      },
    ],
  })
  expect(await stage.run({ prompt: 'spend' })).toMatchObject({ outcome: 'budget', attemptCount: 0 })
  expect(stage.processes.starts()).toEqual([])
})

test('a purpose may stop a run before its attempt, or have the agent told something', async () => {
  await open({
    purposes: (plain) => [
      {
        ...plain,
        name: 'careful',
        claims: () => true,
        beforeAttempt: async ({ prompt }) =>
          prompt === 'stop'
            ? { kind: 'stop', outcome: { name: 'work-dir-changed', message: 'somebody was here' } }
            : { kind: 'go', note: 'Somebody changed a file.', said: 'a file was changed' },
      },
    ],
  })
  expect(await stage.run({ prompt: 'stop' })).toMatchObject({
    outcome: 'work-dir-changed',
    message: 'somebody was here',
    attemptCount: 0,
  })
  const run = await stage.run({ prompt: 'go' })
  expect(run).toMatchObject({ outcome: 'completed' })
  expect(await stage.notes(run.id)).toContain('a file was changed')
  expect(stage.processes.starts()[0]?.prompt.join('\n')).toContain('Somebody changed a file.')
})
