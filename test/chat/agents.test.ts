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
  // Sessions never cross between agents that share an adapter.
  expect(await chat.say('for other again', { agent: 'other' })).toMatchObject({
    resumed: true,
    sessionId: second.sessionId,
  })
  expect(claude.starts().flat().join(' ')).not.toContain(second.sessionId)
  expect(other.starts().flat().join(' ')).not.toContain(first.sessionId)
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
