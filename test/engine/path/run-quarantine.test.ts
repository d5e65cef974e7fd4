/** A run of which the engine died twice is held, and people are told. */
import { afterEach, expect, test } from 'vitest'
import { CycleId, RunId } from '../../../src/contract/ids.ts'
import { answers } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const tiers = { 1: { model: 'memory-1', tools: ['Bash'], commands: { allow: ['ls *'] } } }

/** Begins a run whose output two engines die of, and opens a third one. Returns the run. */
async function dieTwice(begin: () => Promise<RunId>): Promise<RunId> {
  stage = await Stage.open({ config: { tiers } })
  let say = () => {}
  stage.play(async (agent) => {
    await agent.begin()
    for (;;) {
      await new Promise<void>((resolve) => (say = resolve))
      agent.print({ type: 'text-end', text: 'This is a poisonous answer.' })
    }
  })
  const id = await begin()
  await stage.until(async () => (await stage.eventsOf(id, 'model-call')).length > 0)
  for (let death = 0; death < 2; death++) {
    if (death > 0) await stage.reopen()
    stage.life.endAt('before', 'advanceAttempt')
    say()
    await stage.life.over
  }
  await stage.reopen()
  return id
}

test('a cycle whose run is held has failed and says why, people are told, and the watch goes on', async () => {
  let cycleId: CycleId | null = null
  const id = await dieTwice(async () => {
    await stage.engine.createWatch({ name: 'web', workDir: stage.workDir, prompt: 'Is web fine?' })
    const cycle = await stage.engine.triggerWatch('web', {})
    cycleId = CycleId.schema.parse(cycle.cycleId)
    const runOf = async () => (await stage.engine.getCycle(CycleId.schema.parse(cycleId))).rootRunId
    await stage.until(async () => (await runOf()) !== null)
    return RunId.schema.parse(await runOf())
  })
  const read = () => stage.engine.getCycle(CycleId.schema.parse(cycleId))
  await stage.until(async () => (await read()).state === 'ended')
  const why = /^quarantined: tier 1 is held back: the daemon died twice.*The chain ends here/
  expect(await read()).toMatchObject({ outcome: 'failed', message: expect.stringMatching(why) })
  expect(stage.told).toContainEqual(
    expect.objectContaining({
      event: 'failed',
      subject: { kind: 'cycle', id: cycleId },
      payload: expect.objectContaining({ message: expect.stringMatching(why) }),
    }),
  )
  expect(await stage.settled(id)).toMatchObject({ outcome: 'quarantined' })
  stage.play(answers('ok'))
  const next = CycleId.schema.parse((await stage.engine.triggerWatch('web', {})).cycleId)
  await stage.until(async () => (await stage.engine.getCycle(next)).state === 'ended')
  expect(await stage.engine.getCycle(next)).toMatchObject({ outcome: 'completed' })
})

test('people are told of a chain whose run is held, because it needs their attention', async () => {
  const id = await dieTwice(() => stage.admit({ tier: 1 }))
  expect(await stage.settled(id)).toMatchObject({ outcome: 'quarantined', attemptCount: 1 })
  // A notice that is planned again is the same one, and sent once.
  expect(new Set(stage.told.map(({ occurrence }) => occurrence)).size).toBe(1)
  expect(stage.told[0]).toMatchObject({
    event: 'attention',
    subject: { kind: 'chain', id },
    payload: {
      state: 'quarantined',
      message: expect.stringMatching(/^tier 1 is held back: the daemon died twice/),
    },
  })
  const chain = await stage.engine.getChain(id)
  expect(chain.runs[0]?.escalation).toMatchObject({ decision: 'stop', reason: 'quarantined' })
  expect(stage.processes.all().map(({ alive }) => alive)).toEqual([false])
})
