/** Several agents in one conversation: what each is given, and whose session a change makes stale. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CreateConversation } from '../../src/contract/conversation.ts'
import { type LoggingAgent, loggingAgent } from '../support/agents.ts'
import { Chat } from '../support/chat.ts'
import { transcriptHas } from '../support/transcripts.ts'
import { World } from '../support/world.ts'

let world: World
let claude: LoggingAgent
let other: LoggingAgent
// Each test has a conversation of its own, so one daemon is enough for all.
afterAll(() => world.close())
beforeAll(async () => {
  world = await World.create({
    name: 'echo',
    rules: [
      { when: '/dies here$/', times: 1, reply: [{ text: 'I have begun' }, { hold: 'gate' }] },
      { reply: 'Noted.' },
    ],
  })
  claude = await loggingAgent(world, 'claude')
  other = await loggingAgent(world, 'other')
  await world.configure({
    agents: {
      claude: { command: claude.command, model: 'haiku' },
      other: { adapter: 'claude', command: other.command, model: 'haiku' },
    },
  })
  await world.startDaemon()
})

const sent = () => world.simulator.requests().at(-1)!.userText
const epochs = async (chat: Chat) =>
  Object.fromEntries((await chat.detail()).agents.map(({ agent, epoch }) => [agent, epoch]))

const start = (historyScope: CreateConversation['historyScope']) =>
  Chat.create(world, { agent: 'claude', ...(historyScope ? { historyScope } : {}) })

it('shared: a new agent gets everything, attributed; a resumed one gets what others said meanwhile', async () => {
  const chat = await start(undefined)
  const first = await chat.say('for claude: alpha')
  const second = await chat.say('for other: beta', { agent: 'other' })
  expect(second).toMatchObject({ resumed: false, freshReason: 'other-agent', carry: 'transcript' })
  expect(sent()).toContain('for claude: alpha')
  expect(sent()).toContain('<assistant agent="claude">')
  expect(other.resumed()).toBeUndefined()
  expect(second.sessionId).not.toBe(first.sessionId)

  const third = await chat.say('for claude again: gamma')
  expect(third).toMatchObject({ resumed: true, sessionId: first.sessionId })
  expect(claude.resumed()).toBe(`--resume=${first.sessionId}`)
  expect(sent()).toContain('for other: beta')
  expect(sent()).toContain('<assistant agent="other">')
  expect(sent()).not.toContain('for claude: alpha')

  await chat.say('and once more')
  expect(sent()).not.toContain('beta')
})

it('agent: an agent is given what came after the latest answer of another', async () => {
  const chat = await start('agent')
  await chat.say('for claude: alpha')
  await chat.say('for other: beta', { agent: 'other' })
  expect(sent()).toBe('for other: beta')
  const third = await chat.say('for claude again: gamma')
  expect(third.resumed).toBe(true)
  expect(sent()).not.toContain('beta')
  const fresh = await chat.say('delta', { forceFreshSession: true })
  expect(fresh).toMatchObject({ resumed: false, carry: 'transcript' })
  expect(sent()).toContain('gamma')
  expect(sent()).not.toContain('alpha')
  expect(sent()).not.toContain('beta')
})

it('agent: a change outside what an agent was given leaves its session alone', async () => {
  const chat = await start('agent')
  await chat.say('for other: alpha', { agent: 'other' })
  await chat.say('for claude: beta')
  await chat.edit(1, 'another answer of the other agent')
  expect(await epochs(chat)).toEqual({ claude: 0, other: 1 })
  expect(await chat.say('gamma')).toMatchObject({ resumed: true })
})

it('agent: retrying or truncating the boundary that another agent set makes the session stale', async () => {
  const chat = await start('agent')
  await chat.say('for other: alpha', { agent: 'other' })
  await chat.say('for claude: beta')
  await chat.retry(1, { agent: 'other' })
  expect((await epochs(chat)).claude).toBe(1)
  const run = await chat.say('for claude: gamma')
  expect(run).toMatchObject({ resumed: false, freshReason: 'history-changed' })
  expect(sent()).not.toContain('beta')
  expect(claude.resumed()).toBeUndefined()
})

it('shared: a change to messages that an agent has not seen yet does not make its session stale', async () => {
  const chat = await start('shared')
  await chat.say('for claude: alpha')
  await chat.say('for other: beta', { agent: 'other' })
  await chat.edit(2, 'for other: beta, edited')
  expect(await epochs(chat)).toEqual({ claude: 0, other: 1 })
  expect(await chat.say('for claude: gamma')).toMatchObject({ resumed: true })
  expect(sent()).toContain('beta, edited')
})

it('sessions never cross between agents that share an adapter', async () => {
  const chat = await start('shared')
  const a = await chat.say('one')
  const b = await chat.say('two', { agent: 'other' })
  await chat.say('three')
  await chat.say('four', { agent: 'other' })
  expect(claude.starts().flat().join(' ')).not.toContain(b.sessionId)
  expect(other.starts().flat().join(' ')).not.toContain(a.sessionId)
})

it('messages of others are sent again to an agent that was killed before it had stored them', async () => {
  const chat = await start('shared')
  const { id, sessionId } = await chat.say('for claude: alpha')
  await chat.say('for other: beta', { agent: 'other' })
  // The CLI is killed, and what it has written of this turn is removed.
  const transcript = await transcriptHas(world, id, 'alpha')
  await claude.beforeTurn(`cp '${transcript}' '${transcript}.before'
"$real" "$@"
mv '${transcript}.before' '${transcript}'
exit 137`)
  const third = await chat.post('for claude: it dies here')
  await world.waitForEvent(third.id, (event) => event.type === 'text-delta' && event.text.includes('begun'))
  await claude.beforeTurn(null)
  const { pid } = world.processes().find(({ command }) => isRealClaude(command, sessionId))!
  process.kill(pid, 'SIGKILL')
  expect(await world.settled(third.id)).toMatchObject({
    outcome: 'completed',
    attemptCount: 2,
    resumed: true,
  })
  expect(sent()).toContain('for other: beta')
  expect(sent()).toContain('You had begun with this message')
  expect(sent()).not.toContain('alpha')
  await chat.say('and once more')
  expect(sent()).not.toContain('beta')
})

const isRealClaude = (command: string, sessionId: string | null) =>
  command.includes(`--resume=${sessionId}`) && !/-logged|keeper/.test(command)
