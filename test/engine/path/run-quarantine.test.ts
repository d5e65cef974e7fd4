/** A run of which the engine died twice is held, and people are told. */
import { afterEach, expect, test } from 'vitest'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
afterEach(() => stage.close())

test('people are told of a chain whose run is held, because it needs their attention', async () => {
  const tiers = { 1: { model: 'memory-1', tools: ['Bash'], commands: { allow: ['ls *'] } } }
  stage = await Stage.open({ config: { tiers } })
  let say = () => {}
  stage.play(async (agent) => {
    await agent.begin()
    for (;;) {
      await new Promise<void>((resolve) => (say = resolve))
      agent.print({ type: 'text-end', text: 'This is a poisonous answer.' })
    }
  })
  const id = await stage.admit({ tier: 1 })
  await stage.until(async () => (await stage.eventsOf(id, 'model-call')).length > 0)
  // Each of two engines dies of what the agent says.
  for (let death = 0; death < 2; death++) {
    if (death > 0) await stage.reopen()
    stage.life.endAt('before', 'advanceAttempt')
    say()
    await stage.life.over
  }
  await stage.reopen()
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
