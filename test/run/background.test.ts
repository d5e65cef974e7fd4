/** Sub-agents that work in the background of a turn, on the real CLI: the run waits for them, and no work is lost. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { transcriptHas } from '../support/transcripts.ts'
import { World } from '../support/world.ts'

const helper: RuleInput = {
  when: '/^look it up$/',
  reply: [{ hold: 'helper' }, { text: 'It is 42.' }],
}
const main: RuleInput = {
  when: '/^find out$/',
  reply: [
    {
      tool: 'Agent',
      input: { description: 'look', prompt: 'look it up', subagent_type: 'general-purpose' },
    },
    { await: 'results' },
    { text: 'Somebody looks it up.' },
  ],
}
const told: RuleInput = { when: { contains: 'It is 42.' }, reply: 'The answer is 42.' }
const otherwise: RuleInput = { reply: 'You said: ${user}' }

let world: World
beforeAll(async () => {
  world = await World.create({ name: 'background', rules: [told, helper, main, otherwise] })
  await world.startDaemon()
})
afterAll(() => world.close())

async function begin(): Promise<string> {
  const { id } = await world.createRun({ prompt: 'find out', permissions: 'allow' })
  await world.waitForEvent(id, (event) => event.type === 'turn-end')
  return id
}

it('a run ends when its sub-agents have ended, with their results', async () => {
  const id = await begin()
  expect((await world.getRun(id)).state).toBe('running')
  world.simulator.release('helper')
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'completed', resultText: 'The answer is 42.', attemptCount: 1 })
})

it('an agent that dies while a sub-agent works is resumed, and its empty first turn does not end the run', async () => {
  const id = await begin()
  await transcriptHas(world, id, 'Somebody looks it up.')
  const [agent] = world.agents()
  process.kill(agent!.pid, 'SIGKILL')
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
  expect(run.resultText).toContain('You were interrupted')
})
