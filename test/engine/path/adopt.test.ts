/** Recovery: an engine takes over what the one before it left when it was killed. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunId } from '../../../src/contract/ids.ts'
import { answers } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
let id: RunId
let finish: () => void

beforeEach(async () => {
  stage = await Stage.open()
})
afterEach(() => stage.close())

/** A run whose agent is at work when the engine is killed. */
async function dropAtWork(): Promise<void> {
  stage.play(async (agent) => {
    await agent.begin()
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    agent.finish('done')
    return 0
  })
  id = await stage.admit()
  await stage.until(async () => (await stage.eventsOf(id, 'prompt-accept')).length > 0)
  await stage.drop()
}

const agent = () => {
  const [process] = stage.processes.all()
  if (!process) throw new Error('no agent was started')
  return process
}

test('an agent that was never started never will be: the run is queued again', async () => {
  stage.life.endAt('after', 'startAttempt')
  void stage.admit()
  await stage.life.over
  await stage.reopen()
  const [run] = (await stage.engine.listRuns({ limit: 1 })).items
  const settled = await stage.settled(run?.id ?? '')
  expect(settled).toMatchObject({ outcome: 'completed', attemptCount: 2 })
  expect(await stage.notes(settled.id)).toContain('Reprise was stopped before the agent was started')
  expect(stage.processes.starts()).toHaveLength(1)
})

test('an agent that is at work is followed to its end', async () => {
  await dropAtWork()
  await stage.reopen()
  finish()
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', resultText: 'done', attemptCount: 1 })
})

test('an agent that finished while nobody watched has finished', async () => {
  await dropAtWork()
  finish()
  await stage.until(() => !agent().alive)
  await stage.reopen()
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', resultText: 'done', attemptCount: 1 })
})

test('an agent that was killed while nobody watched is resumed', async () => {
  await dropAtWork()
  agent().kill()
  stage.play(answers('done after all'))
  await stage.reopen()
  expect(await stage.settled(id)).toMatchObject({
    resultText: 'done after all',
    attemptCount: 2,
    resumed: true,
  })
})

test('an agent of the home of which this one is a copy is left alone', async () => {
  await dropAtWork()
  agent().ofOther = true
  await stage.reopen()
  expect(await stage.settled(id)).toMatchObject({
    outcome: 'cancelled',
    message: expect.stringContaining('copy of a Reprise home'),
  })
  expect(agent().alive).toBe(true)
})

test('a run that was cancelled while nobody watched is ended', async () => {
  await dropAtWork()
  await stage.store.markCancelRequested(id, new Date())
  await stage.reopen()
  expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled' })
  expect(agent().alive).toBe(false)
})

test('an engine that was only slow finds that its agent has another owner', async () => {
  stage.play(async (agent) => {
    await agent.begin()
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    agent.finish('done')
    return agent.leave()
  })
  id = await stage.admit()
  await stage.until(async () => (await stage.eventsOf(id, 'prompt-accept')).length > 0)
  const slow = stage.engine
  await stage.reopen()
  finish()
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  expect(await stage.eventsOf(id, 'run-end')).toHaveLength(1)
  await slow.close()
})
