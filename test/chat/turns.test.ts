/** Turns on the real CLI: cancelling, editing, instructions, overflow, the agent's own commands. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Chat } from '../support/chat.ts'
import { killIfThere } from '../support/processes.ts'
import { World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const echo: RuleInput = { reply: 'Noted.' }
async function begin(...rules: RuleInput[]): Promise<Chat> {
  world = await World.create({ name: 'chat', rules: [...rules, echo] })
  await world.startDaemon()
  return Chat.create(world)
}
const sent = () => world.simulator.requests().at(-1)!.userText
const everything = () => JSON.stringify(world.simulator.requests().at(-1)!.messages)

it('a cancelled turn keeps what was said, marked, and is paid for; the next turn has the context', async () => {
  const chat = await begin({
    when: '/a long one$/',
    reply: [{ text: 'The beginning of an answer' }, { hold: 'never' }, { text: ' and its end' }],
  })
  await chat.say('hello')
  const { id } = await chat.post('a long one')
  await world.waitForEvent(id, (e) => e.type === 'text-delta')
  await world.api('POST', `/api/runs/${id}/cancel`)
  const cancelled = await world.settled(id)
  const { usage } = world.simulator.requests().at(-1)!
  expect(cancelled).toMatchObject({ outcome: 'cancelled', costEstimated: true })
  expect(cancelled.usage.cacheReadTokens).toBe(usage!.cache_read_input_tokens)
  expect(cancelled.costUsd).toBeGreaterThan(0)
  const answer = await chat.message(3)
  expect(answer).toMatchObject({ role: 'assistant', state: 'cancelled', turn: 2 })
  expect(JSON.stringify(answer.blocks)).toContain('The beginning')
  expect(JSON.stringify(answer.blocks)).not.toContain('and its end')
  expect(await chat.say('go on')).toMatchObject({ outcome: 'completed', resumed: true })
  expect(everything()).toContain('a long one')
  await chat.say('and fresh', { forceFreshSession: true })
  expect(sent()).toContain('The beginning')
  expect(sent()).toContain('cancelled here')
})

it('a question edited while it is being answered, whose agent then dies, is asked as it is now', async () => {
  const chat = await begin({
    when: '/OLDTEXT$/',
    reply: [{ text: 'Beginning' }, { hold: 'never' }, { text: 'x' }],
  })
  await chat.say('hello')
  const { id } = await chat.post('OLDTEXT')
  await world.simulator.waitForHold('never')
  const { pid } = world.agents()[0]!
  await chat.edit(2, 'NEWTEXT')
  // The edit ends the attempt as well, if the kill does not come first.
  killIfThere(pid)
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

it('instructions travel with the message: at first, and again when the session was compacted or cleared', async () => {
  world = await World.create({ name: 'chat', rules: [echo] })
  await world.startDaemon()
  const chat = await Chat.create(world, { instructions: 'Speak like a pirate.' })
  await chat.say('one')
  expect(sent()).toContain('Speak like a pirate.')
  await chat.say('two')
  expect(sent()).not.toContain('pirate')
  const { id, sessionId } = await chat.say('/compact')
  expect((await world.events(id)).map(({ type }) => type)).toContain('compaction')
  expect(await chat.say('after it')).toMatchObject({ resumed: true, sessionId, attemptCount: 1 })
  expect(sent()).toContain('Speak like a pirate.')
  await chat.say('/clear')
  expect(await chat.say('after it')).toMatchObject({ resumed: true, attemptCount: 1 })
  expect(sent()).toContain('Speak like a pirate.')
  await chat.say('and on')
  expect(sent()).not.toContain('pirate')
})

it('a compaction by the agent itself in the middle of a turn: instructions and question are in its next request', async () => {
  world = await World.create({
    name: 'mid-turn',
    rules: [
      {
        when: '/look around$/',
        reply: [
          { text: `I look. ${'There is a lot to see. '.repeat(300)}` },
          { tool: 'Bash', input: { command: 'echo seen' } },
          { await: 'results' },
          { overflow: { times: 1 } },
          { text: 'never' },
        ],
      },
      echo,
    ],
  })
  await world.startDaemon()
  const chat = await Chat.create(world, { instructions: 'Speak like a pirate.' })
  await chat.say('hello')
  const { id, sessionId } = await chat.say('look around', { permissions: 'allow' })
  const requests = world.simulator.requests()
  const compaction = requests.findLastIndex(({ kind }) => kind === 'compact')
  const after = JSON.stringify(requests[compaction + 1]?.messages)
  expect(after).toContain('This session is being continued')
  for (const words of ['Speak like a pirate.', '<task>\\nlook around\\n</task>'])
    expect(after).toContain(words)
  expect((await world.events(id)).flatMap((e) => (e.type === 'reminder' ? [e.whole] : []))).toEqual([true])
  // It is part of the session, so that later turns have it without being told again.
  expect(await chat.say('and on')).toMatchObject({ resumed: true, sessionId })
  expect(sent()).not.toContain('pirate')
  expect(everything().split('<task>')).toHaveLength(2)
})

it('a message that does not fit even then: a new session with a handoff, so that the conversation can continue', async () => {
  const chat = await begin({
    when: { user: '/too much/', lacks: 'The conversation so far' },
    reply: [{ overflow: true }],
  })
  await chat.say('remember heliotrope')
  const run = await chat.say('this is too much')
  expect(run).toMatchObject({ outcome: 'completed', resumed: false, freshReason: 'context-full' })
  // It is compacted in place first, and asked again.
  expect(run.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
    [true, 'context-overflow'],
    [true, 'completed'],
    [true, 'context-overflow'],
    [false, 'completed'],
  ])
  expect(sent()).toContain('heliotrope')
  expect(sent()).toContain('this is too much')
  expect(await chat.say('and on')).toMatchObject({ outcome: 'completed', resumed: true })
})

it('commands reach the agent in every turn, and added texts are not part of them', async () => {
  world = await World.create({ name: 'chat', rules: [echo] })
  await mkdir(join(world.workDir, '.claude', 'commands'), { recursive: true })
  await writeFile(
    join(world.workDir, '.claude', 'commands', 'greet.md'),
    'Say hello to [$ARGUMENTS], please.',
  )
  await world.startDaemon()
  await world.trust()
  const chat = await Chat.create(world, { instructions: 'Speak like a pirate.' })
  const greeted = 'Say hello to [Anna], please.'
  // The output of the agent's own command is its answer, and the session continues.
  expect(await chat.say('/compact')).toMatchObject({ outcome: 'completed' })
  expect(await chat.say('hello')).toMatchObject({ outcome: 'completed', attempts: [{ resumed: true }] })
  expect(await chat.texts()).toEqual([
    'user: /compact',
    'claude: Error: No messages to compact',
    'user: hello',
    'claude: Noted.',
  ])
  // In a resumed turn, and in a fresh one with all that was said before.
  for (const forceFreshSession of [false, true]) {
    expect(await chat.say('/greet Anna', { forceFreshSession })).toMatchObject({
      resumed: !forceFreshSession,
    })
    expect(sent()).toContain(greeted)
    expect(sent().includes('The conversation so far')).toBe(forceFreshSession)
  }
  // A command that the agent handles itself may drop the added texts; they are sent with the next message.
  await world.api('PATCH', `/api/conversations/${chat.id}`, { instructions: 'Be a piper.' })
  const help = await chat.say('/help')
  expect(help).toMatchObject({ outcome: 'completed', resumed: true })
  expect((await chat.texts()).at(-1)).toMatch(/help isn't available/)
  await chat.say('/help', { forceFreshSession: true })
  await chat.say('hello again')
  expect(sent()).toContain('piper')
  expect(everything()).toContain('Anna')
})
