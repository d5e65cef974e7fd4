/** Ends that take no agent, or more than one: runs that are cancelled while they wait, and agents that die repeatedly. */
import { afterEach, expect, test } from 'vitest'
import { answers, hangs, KILLED, type Script } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

let stage: Stage
const open = async (options?: StageOptions) => {
  stage = await Stage.open(options)
}
afterEach(() => stage.close())

test('a run that is cancelled while it waits in the queue starts no agent, and the one before it completes', async () => {
  await open({ settings: { concurrency: 1 } })
  let finish = () => {}
  stage.play(async (agent) => {
    await agent.begin()
    await new Promise<void>((resolve) => (finish = resolve))
    agent.finish('done')
    return agent.leave()
  })
  const first = await stage.admit()
  await stage.until(async () => (await stage.eventsOf(first, 'prompt-accept')).length > 0)
  const second = await stage.admit({ prompt: 'later' })
  await stage.engine.cancel(second)
  expect(await stage.settled(second)).toMatchObject({ outcome: 'cancelled', attemptCount: 0 })
  finish()
  expect(await stage.settled(first)).toMatchObject({ outcome: 'completed' })
  expect(stage.processes.starts()).toHaveLength(1)
})

test('a run that is cancelled while it waits for a limit ends, and its agent is not started again', async () => {
  await open()
  const resetsAt = new Date(Date.now() + 7_200_000).toISOString()
  stage.play(answers('', { outcome: { name: 'rate-limited', message: 'limit reached', resetsAt } }))
  const id = await stage.admit()
  await stage.until(async () => (await stage.engine.getRun(id)).notBefore !== null)
  await stage.engine.cancel(id)
  expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled', attemptCount: 1 })
  expect(stage.processes.starts()).toHaveLength(1)
})

test('an agent that dies repeatedly has crashed, after a limited number of attempts', async () => {
  await open()
  const dies: Script = async () => KILLED
  stage.play(dies, dies, dies)
  const run = await stage.run({ maxResumes: 1 })
  expect(run).toMatchObject({
    outcome: 'crashed',
    attemptCount: 2,
    message: expect.stringContaining('was killed'),
  })
})

test('an agent that ignores signals and hangs after its result is killed, and has completed', async () => {
  await open()
  stage.play(async (agent) => {
    agent.ignoreStop()
    await agent.begin()
    agent.finish('all done')
    return new Promise(() => {})
  })
  const id = await stage.admit()
  await stage.until(async () => (await stage.eventsOf(id, 'turn-end')).length > 0)
  stage.clock.advance(60_000)
  expect(await stage.settled(id)).toMatchObject({
    outcome: 'completed',
    resultText: 'all done',
    attemptCount: 1,
  })
  expect(stage.processes.all().map(({ alive, exitCode }) => [alive, exitCode])).toEqual([[false, null]])
})

test('a run that was silent for too long may be continued in its session', async () => {
  await open()
  stage.play(hangs, answers('here'))
  const id = await stage.admit({ maxResumes: 0 })
  await stage.until(async () => (await stage.eventsOf(id, 'model-call')).length > 0)
  stage.clock.advance(11 * 60_000)
  const { sessionId, outcome } = await stage.settled(id)
  expect(outcome).toBe('timed-out')
  expect(await stage.run({ prompt: 'go on', sessionId: sessionId ?? '' })).toMatchObject({
    outcome: 'completed',
    resumed: true,
    sessionId,
  })
})
