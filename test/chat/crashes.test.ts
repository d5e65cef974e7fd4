/** The daemon dies around the end of a turn: answer and pin are stored together, or neither is. */
import { afterEach, expect, it } from 'vitest'
import { Chat } from '../support/chat.ts'
import { pauseAt } from '../support/pause.ts'
import { sampleOf } from '../support/sample.ts'
import { World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const writes = sampleOf(
  [
    ['before', 'startAttempt'],
    ['after', 'markLaunched'],
    ['before', 'endAttempt'],
    ['after', 'endAttempt'],
  ],
  (write) => write,
)

it.each(writes)('%s %s: one answer, and the next turn resumes with it', async (when, method) => {
  world = await World.create({
    name: 'chat',
    rules: [{ when: '/second/', reply: 'Second answer.' }, { reply: 'Noted.' }],
  })
  await world.startDaemon()
  const chat = await Chat.create(world)
  await chat.say('first')
  await world.killDaemon('SIGTERM')
  const id = await pauseAt(world, when, method, {
    turn: { conversationId: chat.id, request: { text: 'second' } },
  })
  await world.startDaemon()
  expect(await world.settled(id)).toMatchObject({ outcome: 'completed', resumed: true })
  expect(await chat.texts()).toEqual([
    'user: first',
    'claude: Noted.',
    'user: second',
    'claude: Second answer.',
  ])
  const third = await chat.say('third')
  expect(third).toMatchObject({ resumed: true })
  const { userText, messages } = world.simulator.requests().at(-1)!
  expect(userText).not.toContain('second')
  expect(JSON.stringify(messages).split('Second answer.')).toHaveLength(2)
  expect(world.simulator.requests().filter((r) => /second$/.test(r.userText))).toHaveLength(1)
})
