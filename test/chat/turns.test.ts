/** Turns: order, cancelling, questions, instructions, overflow, edits while a turn runs. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Chat } from '../support/chat.ts'
import { QUESTION } from '../support/question.ts'
import { until, World } from '../support/world.ts'

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

it('turns posted at once are answered one after the other, in order', async () => {
  const chat = await begin({ when: /slow/.toString(), reply: [{ hold: 'gate' }, { text: 'Slow answer.' }] })
  const first = await chat.post('slow one')
  await world.simulator.waitForHold('gate')
  const [second, third] = [await chat.post('second'), await chat.post('third')]
  expect((await world.getRun(second.id)).state).toBe('queued')
  world.simulator.release('gate')
  for (const { id } of [first, second, third]) expect((await world.settled(id)).outcome).toBe('completed')
  expect((await chat.texts()).map((t) => t.replace(/<reprise>.*?<\/reprise>/s, ''))).toEqual([
    'user: slow one',
    'claude: Slow answer.',
    'user: second',
    'claude: Noted.',
    'user: third',
    'claude: Noted.',
  ])
  for (const text of ['slow one', 'Slow answer.', 'second', 'third']) expect(everything()).toContain(text)
})

it('different conversations run at the same time', async () => {
  const chat = await begin({ when: '/hold/', reply: [{ hold: 'gate' }, { text: 'x' }] })
  const held = await chat.post('hold on')
  await world.simulator.waitForHold('gate')
  const otherChat = await Chat.create(world)
  expect((await otherChat.say('quick')).outcome).toBe('completed')
  world.simulator.release('gate')
  await world.settled(held.id)
})

it('an Idempotency-Key makes a repeated turn the same turn', async () => {
  const chat = await begin()
  const post = async () => {
    const path = `/api/conversations/${chat.id}/turns`
    const response = await world.request('POST', path, { text: 'once' }, { 'idempotency-key': 'k1' })
    return ((await response.json()) as { run: { id: string } }).run.id
  }
  const [a, b] = [await post(), await post()]
  expect(a).toBe(b)
  await world.settled(a)
  expect(await chat.texts()).toEqual(['user: once', 'claude: Noted.'])
})

it('a cancelled turn keeps what was said, marked, and the next turn has the context', async () => {
  const chat = await begin({
    when: '/a long one$/',
    reply: [{ text: 'The beginning of an answer' }, { hold: 'never' }, { text: ' and its end' }],
  })
  await chat.say('hello')
  const { id } = await chat.post('a long one')
  await world.waitForEvent(id, (e) => e.type === 'text-delta')
  await world.api('POST', `/api/runs/${id}/cancel`)
  expect((await world.settled(id)).outcome).toBe('cancelled')
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

it('instructions travel with the message: at first, and again when they changed or the session was compacted', async () => {
  const grows: RuleInput = { when: '/too much$/', reply: [{ overflow: { times: 1 } }, { text: 'It fits.' }] }
  world = await World.create({ name: 'chat', rules: [grows, echo] })
  await world.startDaemon()
  const chat = await Chat.create(world, { instructions: 'Speak like a pirate.' })
  await chat.say('one')
  expect(sent()).toContain('Speak like a pirate.')
  await chat.say('two')
  expect(sent()).not.toContain('pirate')
  // By a person's command, and by the agent itself in the middle of a turn.
  for (const text of ['/compact', 'too much']) {
    const { id, sessionId } = await chat.say(text)
    expect((await world.events(id)).map(({ type }) => type)).toContain('compaction')
    expect(await chat.say('after it')).toMatchObject({ resumed: true, sessionId, attemptCount: 1 })
    expect(sent()).toContain('Speak like a pirate.')
  }
  await chat.say('/clear')
  expect(await chat.say('after it')).toMatchObject({ resumed: true, attemptCount: 1 })
  expect(sent()).toContain('Speak like a pirate.')
  await chat.say('and on')
  expect(sent()).not.toContain('pirate')
  await world.api('PATCH', `/api/conversations/${chat.id}`, { instructions: 'Speak like a poet.' })
  expect(await chat.say('three')).toMatchObject({ resumed: true })
  expect(sent()).toContain('Speak like a poet.')
  await chat.say('four')
  expect(sent()).not.toContain('poet')
  await world.api('PATCH', `/api/conversations/${chat.id}`, { instructions: null })
  await chat.say('five')
  expect(sent()).toContain('no longer apply')
  await chat.say('six', { forceFreshSession: true })
  expect(sent()).not.toMatch(/pirate|poet/)
})

it('a question is answered under resume, and appears as answered in a later transcript', async () => {
  const chat = await begin({
    when: '/paint it$/',
    reply: [
      { tool: 'AskUserQuestion', input: { questions: [QUESTION] } },
      { await: 'results' },
      { text: 'Painted.' },
    ],
  })
  await chat.say('hello')
  const { id } = await chat.post('paint it')
  await world.waitForEvent(id, (e) => e.type === 'question-ask')
  const { pending, resumed } = await world.getRun(id)
  expect(resumed).toBe(true)
  await world.api('POST', `/api/runs/${id}/tool-result`, {
    toolUseId: pending[0]!.toolUseId,
    answers: { 'Which colour?': 'Blue' },
  })
  expect((await world.settled(id)).outcome).toBe('completed')
  expect((await chat.message(3)).blocks.map((b) => b.type)).toEqual(['tool-use', 'tool-result', 'text'])
  await chat.say('later', { forceFreshSession: true })
  expect(sent()).toMatch(/\[asked: Which colour\? — answered: .*Blue/)
})

it('an edit while a turn runs: the answer stays, the session is not used again', async () => {
  const chat = await begin({ when: '/second$/', reply: [{ hold: 'gate' }, { text: 'Second answer.' }] })
  await chat.say('first words')
  const { id } = await chat.post('second')
  await world.simulator.waitForHold('gate')
  await chat.edit(0, 'other words')
  world.simulator.release('gate')
  expect((await world.settled(id)).outcome).toBe('completed')
  expect(await chat.texts()).toContain('claude: Second answer.')
  expect(await chat.say('third')).toMatchObject({ resumed: false, freshReason: 'history-changed' })
  expect(sent()).toContain('other words')
  expect(sent()).not.toContain('first words')
})

it('a question that is edited while it is answered is asked again; nothing of the first answer is kept', async () => {
  const chat = await begin(
    { when: '/second$/', reply: [{ text: 'Beginning' }, { hold: 'never' }, { text: ' of an answer.' }] },
    { when: '/other words$/', reply: 'Other answer.' },
  )
  await chat.say('first')
  const { id } = await chat.post('second')
  await world.waitForEvent(id, (e) => e.type === 'text-delta')
  const later = await chat.post('third')
  await chat.edit(2, 'other words')
  expect(await world.settled(id)).toMatchObject({ outcome: 'completed', resultText: 'Other answer.' })
  await world.settled(later.id)
  expect(await chat.texts()).toEqual([
    'user: first',
    'claude: Noted.',
    'user: other words',
    'claude: Other answer.',
    'user: third',
    'claude: Noted.',
  ])
  expect(everything()).toContain('other words')
  expect(everything()).not.toMatch(/second|Beginning/)
})

it('truncating a turn that runs cancels it; its answer is not kept', async () => {
  const chat = await begin({
    when: '/second$/',
    reply: [{ text: 'Beginning' }, { hold: 'never' }, { text: 'x' }],
  })
  await chat.say('first')
  const { id } = await chat.post('second')
  await world.simulator.waitForHold('never')
  await chat.drop(2)
  expect((await world.settled(id)).outcome).toBe('cancelled')
  expect(await chat.texts()).toEqual(['user: first', 'claude: Noted.'])
  await chat.say('third')
  expect(everything()).not.toContain('second')
})

it('editing a turn that still waits changes what is asked', async () => {
  const chat = await begin({ when: '/first/', reply: [{ hold: 'gate' }, { text: 'x' }] })
  await chat.post('first')
  await world.simulator.waitForHold('gate')
  const { id } = await chat.post('second')
  await chat.edit(1, 'second, corrected')
  world.simulator.release('gate')
  await world.settled(id)
  expect(sent()).toContain('second, corrected')
})

it('a message that does not fit: the session is compacted in place and the message asked again', async () => {
  const chat = await begin({
    when: '/too much$/',
    // The CLI compacts and retries by itself after the first overflow; Reprise handles the second.
    reply: [{ overflow: { times: 2 } }, { text: 'It fits now.' }],
  })
  const first = await chat.say('hello')
  await chat.say('how are you')
  const run = await chat.say('this is too much')
  expect(run).toMatchObject({ outcome: 'completed', resumed: true, sessionId: first.sessionId })
  expect(run.attempts.map((a) => a.outcome?.name)).toEqual(['context-overflow', 'completed', 'completed'])
  expect((await chat.texts()).at(-1)).toBe('claude: It fits now.')
  expect(await chat.say('and on')).toMatchObject({ outcome: 'completed', resumed: true })
})

it('a message that does not fit even then: a new session with a handoff, so that the conversation can continue', async () => {
  const chat = await begin({
    when: { user: '/too much/', lacks: 'The conversation so far' },
    reply: [{ overflow: true }],
  })
  await chat.say('remember heliotrope')
  const run = await chat.say('this is too much')
  expect(run).toMatchObject({ outcome: 'completed', resumed: false, freshReason: 'context-full' })
  expect(sent()).toContain('heliotrope')
  expect(sent()).toContain('this is too much')
  expect(await chat.say('and on')).toMatchObject({ outcome: 'completed', resumed: true })
})

it("the output of an agent's own command is the answer, and the session continues", async () => {
  const chat = await begin()
  expect(await chat.say('/compact')).toMatchObject({ outcome: 'completed' })
  expect(await chat.say('hello')).toMatchObject({ outcome: 'completed', attempts: [{ resumed: true }] })
  expect(await chat.texts()).toEqual([
    'user: /compact',
    'claude: Error: No messages to compact',
    'user: hello',
    'claude: Noted.',
  ])
})

it('commands reach the agent in every turn, and added texts are not part of them', async () => {
  world = await World.create({ name: 'chat', rules: [echo] })
  await mkdir(join(world.workDir, '.claude', 'commands'), { recursive: true })
  await writeFile(
    join(world.workDir, '.claude', 'commands', 'greet.md'),
    'Say hello to [$ARGUMENTS], please.',
  )
  await world.startDaemon()
  const chat = await Chat.create(world, { instructions: 'Speak like a pirate.' })
  const greeted = 'Say hello to [Anna], please.'
  // In a resumed turn, and in a fresh one with all that was said before.
  await chat.say('hello')
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

it('the savings are counted', async () => {
  const chat = await begin()
  for (const text of ['one', 'two', 'three', 'four']) await chat.say(text)
  const stats = await world.api<{
    resumedRuns: number
    promptTokensSaved: number
    outcomes: Record<string, number>
  }>('GET', '/api/stats')
  expect(stats).toMatchObject({ runs: 4, resumedRuns: 3, conversations: 1, outcomes: { completed: 4 } })
  expect(stats.promptTokensSaved).toBeGreaterThan(0)
})

it('deleting a conversation ends its turns; nothing of it can be read any more', async () => {
  const chat = await begin({ when: '/hold/', reply: [{ hold: 'never' }, { text: 'x' }] })
  const { id } = await chat.post('hold')
  await world.simulator.waitForHold('never')
  expect((await world.request('DELETE', `/api/conversations/${chat.id}`)).status).toBe(204)
  expect((await world.settled(id)).outcome).toBe('cancelled')
  expect((await world.request('GET', `/api/conversations/${chat.id}`)).status).toBe(404)
  await until(() => world.processes().length === 0, 'its processes to end')
})
