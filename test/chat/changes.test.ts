/** Changes to the history at critical moments: while an agent works, dies, or waits for its next attempt. */
import { afterEach, expect, it } from 'vitest'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Chat } from '../support/chat.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

async function begin(...rules: RuleInput[]): Promise<Chat> {
  world = await World.create({ name: 'chat', rules: [...rules, { reply: 'Noted.' }] })
  await world.startDaemon()
  return Chat.create(world)
}
const everything = () => JSON.stringify(world.simulator.requests().at(-1)!.messages)
const agent = () => world.processes().find((p) => /claude.* -p /.test(p.command) && !/keeper/.test(p.command))

/** Kills the agent until its run waits for another attempt. */
async function killUntilWaiting(id: string): Promise<void> {
  await until(async () => {
    const victim = agent()
    try {
      if (victim) process.kill(victim.pid, 'SIGKILL')
    } catch {}
    const { state, notBefore } = await world.getRun(id)
    return state === 'queued' && notBefore !== null && Date.parse(notBefore) - Date.now() > 400
  }, 'a run that waits for its next attempt')
}

const held = (text: string): RuleInput => ({
  when: `/${text}$/`,
  reply: [{ text: 'Beginning' }, { hold: 'never' }, { text: 'x' }],
})

it('a question edited while it is being answered, whose agent then dies, is asked as it is now', async () => {
  const chat = await begin(held('OLDTEXT'))
  await chat.say('hello')
  const { id } = await chat.post('OLDTEXT')
  await world.simulator.waitForHold('never')
  const { pid } = agent()!
  await chat.edit(2, 'NEWTEXT')
  // The edit ends the attempt as well, if the kill does not come first.
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
  expect(await world.settled(id)).toMatchObject({
    outcome: 'completed',
    resumed: false,
    freshReason: 'history-changed',
  })
  expect(everything()).toContain('NEWTEXT')
  expect(everything()).not.toContain('OLDTEXT')
  expect(await chat.say('third')).toMatchObject({ resumed: true })
  expect(everything()).not.toContain('OLDTEXT')
})

it('a question edited between two attempts is asked as it is now', async () => {
  const chat = await begin(held('OLDTEXT'))
  await chat.say('hello')
  const { id } = await chat.post('OLDTEXT')
  await world.simulator.waitForHold('never')
  await killUntilWaiting(id)
  await chat.edit(2, 'NEWTEXT')
  expect((await world.settled(id)).outcome).toBe('completed')
  expect(everything()).toContain('NEWTEXT')
  await chat.say('third')
  expect(everything()).not.toContain('OLDTEXT')
})

it('a question that is removed between two attempts is not asked again, and no session contains it', async () => {
  const chat = await begin(held('SECRET'))
  await chat.say('hello')
  const { id } = await chat.post('SECRET')
  await world.simulator.waitForHold('never')
  await killUntilWaiting(id)
  await chat.drop(2)
  expect((await world.settled(id)).outcome).toBe('cancelled')
  await chat.say('third')
  expect(everything()).not.toContain('SECRET')
})

it('a turn cancelled between two attempts keeps what was said', async () => {
  const chat = await begin(held('long one'))
  await chat.say('hello')
  const { id } = await chat.post('long one')
  await world.waitForEvent(id, (e) => e.type === 'text-delta')
  await killUntilWaiting(id)
  await world.api('POST', `/api/runs/${id}/cancel`)
  expect((await world.settled(id)).outcome).toBe('cancelled')
  expect(await chat.message(3)).toMatchObject({ role: 'assistant', state: 'cancelled' })
  expect(JSON.stringify((await chat.message(3)).blocks)).toContain('Beginning')
})

it('an edit that comes just as the turn starts is asked, or makes the session stale; never neither', async () => {
  const chat = await begin()
  await chat.say('hello')
  for (let n = 0; n < 6; n++) {
    const { id } = await chat.post(`old ${n}.`)
    const index = (await chat.detail()).messages.findLastIndex((m) => m.role === 'user')
    await chat.edit(index, `new ${n}.`)
    await world.settled(id)
  }
  await chat.say('last')
  expect(everything()).not.toMatch(/old \d\./)
  for (let n = 0; n < 6; n++) expect(everything()).toContain(`new ${n}.`)
})

it('what a cancelled call cost is counted', async () => {
  const chat = await begin(held('expensive'))
  await chat.say('hello')
  const { id } = await chat.post('expensive')
  await world.waitForEvent(id, (e) => e.type === 'text-delta')
  await world.api('POST', `/api/runs/${id}/cancel`)
  const run = await world.settled(id)
  const { usage } = world.simulator.requests().at(-1)!
  expect(run.usage.cacheReadTokens).toBe(usage!.cache_read_input_tokens)
  expect(run.costUsd).toBeGreaterThan(0)
  expect(run.costEstimated).toBe(true)
})

it('runs that wait for a person do not keep others from starting', async () => {
  world = await World.create(
    {
      name: 'ask',
      rules: [
        {
          when: '/wait/',
          reply: [
            { tool: 'Bash', input: { command: 'touch x', description: 'x' } },
            { await: 'results' },
            'ok',
          ],
        },
        { reply: 'Noted.' },
      ],
    },
    { run: { concurrency: 1, termAfter: '1s', killAfter: '1s' } },
  )
  await world.startDaemon()
  const { id } = await world.createRun({ prompt: 'wait', permissions: 'ask' })
  await world.waitForEvent(id, (e) => e.type === 'permission-ask')
  expect(await world.run({ prompt: 'meanwhile' })).toMatchObject({ outcome: 'completed' })
  await world.api('POST', `/api/runs/${id}/cancel`)
  await world.settled(id)
})

it('a session of a conversation is not used by a run outside of it', async () => {
  const chat = await begin()
  const { session } = await chat.say('hello')
  const response = await world.request('POST', '/api/runs', {
    prompt: 'psst',
    workDir: world.workDir,
    sessionId: session,
  })
  expect(response.status).toBe(409)
  expect(await response.text()).toContain(chat.id)
})
