/** A new session for a long conversation, on the real CLI: it is given everything that fits, and the rest is listed exactly. */
import { afterEach, expect, it } from 'vitest'
import { describeRun } from '../../src/cli/run/detail.ts'
import { Chat } from '../support/chat.ts'
import { World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const long = (chars: number) => 'over the wet fields it flew '.repeat(Math.ceil(chars / 28)).slice(0, chars)

it('a message of 1 MB, many turns and long tool output arrive whole; for a smaller window the omitted parts are listed', async () => {
  const bash = { tool: 'Bash', input: { command: 'seq 1 4500', description: 'count' } }
  world = await World.create({
    name: 'long',
    rules: [
      { when: '/count$/', reply: [bash, { await: 'results' }, { text: 'Counted.' }] },
      { reply: 'Noted.' },
    ],
  })
  await world.startDaemon()
  const chat = await Chat.create(world)
  await chat.say('please count', { permissions: 'allow' })
  expect((await chat.message(1)).blocks).toContainEqual(
    expect.objectContaining({ type: 'tool-result', clipped: expect.any(Number) }),
  )
  await chat.say(`BEGIN ${long(1_000_000)} END`)
  const sent = () => world.simulator.requests().at(-1)!.userText
  const whole = await chat.say('fresh', { forceFreshSession: true })
  expect(whole).toMatchObject({ outcome: 'completed', carry: 'transcript', leftOut: null })
  expect(sent()).toMatch(/\n4499\n4500\]/)
  expect(sent()).toContain(`BEGIN ${long(1_000_000)} END`)

  // The context window of this model is not known yet.
  const smaller = await chat.say('fresh again', { forceFreshSession: true, model: 'sonnet' })
  expect(smaller).toMatchObject({ outcome: 'completed', leftOut: { turns: 0, messages: 1 } })
  const { leftOut } = smaller
  expect(leftOut!.items).toContainEqual({ what: 'message', turn: 2, characters: expect.any(Number) })
  expect(leftOut!.characters).toBeGreaterThan(500_000)
  expect(sent()).toMatch(/BEGIN over[\s\S]*characters left out here[\s\S]*flew.* END/)
  const event = (await world.events(smaller.id)).find(({ type }) => type === 'left-out')
  expect(event).toMatchObject({ ...leftOut })
  expect(describeRun(smaller, new Date()).join('\n')).toMatch(
    /left out .*1 message shortened.*\n[\s\S]*left out: message of turn 2/,
  )
})
