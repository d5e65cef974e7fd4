/** Crashes around the end of a turn: answer and pin are stored together or not at all, and no answer or text is lost. */
import { afterEach, expect, it } from 'vitest'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Chat } from '../support/chat.ts'
import { pauseAt } from '../support/pause.ts'
import { QUESTION } from '../support/question.ts'
import { sampleOf } from '../support/sample.ts'
import { transcriptHas } from '../support/transcripts.ts'
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
  // One is enough here: the engine is killed around every write of a turn in memory.
  () => ['write'],
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

const asks: RuleInput = {
  when: '/paint it$/',
  reply: [
    { tool: 'AskUserQuestion', input: { questions: [QUESTION] } },
    { await: 'results' },
    { text: 'Painted.' },
  ],
}
const otherwise: RuleInput = { reply: 'Noted.' }

async function begin(rule: RuleInput, config: object = {}): Promise<Chat> {
  world = await World.create({ name: 'chat', rules: [rule, otherwise] }, config)
  await world.startDaemon()
  return Chat.create(world)
}

const agentOf = () => world.agents()[0]!
const newestPrompt = () => world.simulator.requests().at(-1)!.userText

it('an answer that came after the agent had died is sent when it continues, and is part of the history', async () => {
  const chat = await begin(asks)
  const { id } = await chat.post('paint it')
  await world.waitForEvent(id, (event) => event.type === 'question-ask')
  await transcriptHas(world, id, '"paint it"')
  const { pid } = agentOf()
  process.kill(pid, 'SIGSTOP')
  const [question] = (await world.getRun(id)).pending
  await world.api('POST', `/api/runs/${id}/tool-result`, {
    toolUseId: question!.toolUseId,
    answers: { 'Which colour?': 'Blue' },
  })
  process.kill(pid, 'SIGKILL')
  expect(await world.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
  expect(newestPrompt()).toContain('answered "Which colour?" = "Blue"')
  expect(newestPrompt()).not.toContain('unknown')
  await chat.say('and now?', { forceFreshSession: true })
  expect(newestPrompt()).toContain('[asked: Which colour? — answered: "Which colour?" = "Blue"]')
})
