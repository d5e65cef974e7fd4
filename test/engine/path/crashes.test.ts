/**
 * The engine is killed before and after every write of a run's life, and another one recovers: the run settles once, its
 * prompt is accepted once, and nothing is left running.
 */
import { afterEach, expect, test } from 'vitest'
import type { RunId } from '../../../src/contract/ids.ts'
import { announceSeed } from '../../core/random.ts'
import type { Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
afterEach(() => stage.close())

/** Uses a tool, asks for another one, and answers. */
const works: Script = async (agent) => {
  await agent.begin()
  agent.useTool('Bash', { command: 'make' }, 'built')
  const answer = await agent.ask('Bash', { command: 'make install' })
  agent.callModel()
  agent.finish(`installed: ${answer?.decision}`)
  return agent.leave()
}

const REQUEST = { prompt: 'install it', permissions: 'allow' } as const

async function begin(): Promise<number> {
  stage = await Stage.open()
  stage.play(works, works, works, works)
  return stage.life.writes.length
}

/** Runs until the engine is dead or the run has ended. Returns the run, if it was admitted. */
async function play(admitted: RunId | null): Promise<RunId | null> {
  const { life } = stage
  const id = admitted ?? (await Promise.race([stage.admit(REQUEST), life.over.then(() => null)]))
  if (id !== null) await Promise.race([stage.settled(id), life.over])
  const [known] = (await stage.store.listRuns({ limit: 1 })).items
  return known?.id ?? null
}

async function recover(admitted: RunId | null): Promise<RunId> {
  await stage.reopen()
  const id = admitted ?? (await stage.admit(REQUEST))
  await stage.settled(id)
  return id
}

async function expectOneEnd(id: RunId): Promise<void> {
  const run = await stage.engine.getRun(id)
  expect(run).toMatchObject({ outcome: 'completed', resultText: 'installed: allow' })
  await expectNothingLeft(id)
}

async function expectNothingLeft(id: RunId): Promise<void> {
  expect((await stage.engine.getRun(id)).pending).toEqual([])
  expect(await stage.eventsOf(id, 'run-end')).toHaveLength(1)
  expect((await stage.events(id)).at(-1)?.type).toBe('run-end')
  expect((await stage.engine.listRuns({ limit: 10 })).items).toHaveLength(1)
  expect(stage.processes.all().filter(({ alive }) => alive)).toEqual([])
  expect(await stage.store.listOpenProcesses()).toEqual([])
}

/** The number of writes in the life of a run that is not disturbed. */
async function countWrites(): Promise<string[]> {
  const before = await begin()
  const id = await play(null)
  if (id) await expectOneEnd(id)
  const writes = stage.life.writes.slice(before)
  await stage.close()
  return writes
}

test('the engine is killed at every write, and the agent goes on', async () => {
  const writes = await countWrites()
  expect(writes).toEqual(expect.arrayContaining(['admitRun', 'startAttempt', 'markLaunched', 'endAttempt']))
  for (const [index, name] of writes.entries()) {
    for (const when of ['before', 'after'] as const) {
      const point = `${when} write ${index + 1}, ${name}`
      const before = await begin()
      stage.life.endAt(when, before + index + 1)
      const id = await recover(await play(null))
      await expectOneEnd(id)
      expect(stage.processes.starts(), point).toHaveLength(1)
      expect(await stage.eventsOf(id, 'prompt-accept'), point).toHaveLength(1)
      expect(await stage.eventsOf(id, 'question-answer'), point).toHaveLength(1)
      await stage.close()
    }
  }
  await begin()
})

test('the engine and the agent are killed at every write', async () => {
  const writes = await countWrites()
  for (const [index, name] of writes.entries()) {
    for (const when of ['before', 'after'] as const) {
      const point = `${when} write ${index + 1}, ${name}`
      const before = await begin()
      stage.life.endAt(when, before + index + 1)
      const admitted = await play(null)
      for (const process of stage.processes.all()) process.kill()
      const id = await recover(admitted)
      await expectOneEnd(id)
      // A session that has the prompt is never given it again.
      const bySession = Map.groupBy(stage.processes.starts(), ({ agentSessionId }) => agentSessionId)
      for (const starts of bySession.values()) {
        const given = starts.filter(({ prompt }) => prompt.includes('install it'))
        expect(given.length, point).toBeLessThanOrEqual(1)
      }
      await stage.close()
    }
  }
  await begin()
})

test('engine after engine is killed at random writes', async () => {
  const seed = announceSeed('crashes')
  let state = seed
  /** From 1 to `max`. */
  const random = (max: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return 1 + (state % max)
  }
  for (let round = 0; round < 10; round++) {
    await begin()
    let id: RunId | null = null
    for (let death = 0; death < 2; death++) {
      const when = random(2) === 1 ? 'before' : 'after'
      stage.life.endAt(when, stage.life.writes.length + random(12))
      id = await play(id)
      if (!stage.life.isOver) break
      await stage.reopen()
    }
    id ??= await stage.admit(REQUEST)
    await stage.settled(id)
    const point = `seed ${seed}, round ${round}`
    // Two engines that die at the very same step of a run are taken to have died of it.
    const { outcome } = await stage.engine.getRun(id)
    if (outcome === 'quarantined') await expectNothingLeft(id)
    else await expectOneEnd(id)
    expect(stage.processes.starts().length, point).toBeLessThanOrEqual(1)
    await stage.close()
  }
  await begin()
})
