/** `/clear` on the real CLI: the agent's memory is cleared, and the conversation shows it. */
import { PassThrough } from 'node:stream'
import { afterEach, expect, it } from 'vitest'
import { conversationLines, layOutMessages } from '../../src/cli/chat/conversation-text.ts'
import { Chat } from '../support/chat.ts'
import { World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const SECRET = 'the word is swordfish'
/** The whole text of the last request to the model. */
const sent = () => JSON.stringify(world.simulator.requests({ kind: 'main' }).at(-1)?.messages)

async function begin(): Promise<Chat> {
  world = await World.create({ name: 'clear', rules: [{ when: '/./', reply: 'Noted.' }] })
  await world.startDaemon()
  return Chat.create(world, { agent: 'claude' })
}

it('empties the memory of the agent, and says so', async () => {
  const chat = await begin()
  await chat.say(SECRET)
  const full = await world.api<{ contextTokens: number }>(
    'GET',
    `/api/sessions/${(await chat.detail()).agents[0]?.session}`,
  )
  expect(full.contextTokens).toBeGreaterThan(1000)
  expect((await chat.detail()).agents).toMatchObject([{ seenTurn: 1, clearedTurn: null }])
  await chat.say('/clear')
  const [agent] = (await chat.detail()).agents
  expect(agent).toMatchObject({ seenTurn: 2, clearedTurn: 2 })
  expect(conversationLines(await chat.detail()).join('\n')).toMatch(
    /memory cleared in turn 2, has seen nothing since \(epoch 0\)$/,
  )
  const shown = await layOutMessages([await chat.message(3)], { stdout: new PassThrough(), env: {} })
  expect(shown.flat().join('\n')).toContain('forgot all that was said before')
  // The context is empty again, and no cache reads are expected.
  expect(await world.api('GET', `/api/sessions/${agent?.session}`)).toMatchObject({ contextTokens: 0 })

  const next = await chat.say('and what now?')
  expect(next).toMatchObject({ resumed: true, attempts: [{ cache: { cause: null } }] })
  expect(sent()).not.toContain('swordfish')
  expect(sent()).toContain('Your memory of this conversation was cleared by the user')
  expect(conversationLines(await chat.detail()).join('\n')).toMatch(
    /memory cleared in turn 2, has seen turn 3 \(epoch 0\)$/,
  )
})
