/** Messages for agents that are at work: each is read once, whatever is killed, and none is lost silently. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RunId } from '../../src/contract/ids.ts'
import { MemoryChat } from '../support/memory/chat.ts'
import { HeldAgent } from '../support/memory/held.ts'
import { answers, answersAll, type Script } from '../support/memory/script.ts'
import { Stage } from '../support/memory/stage.ts'

let stage: Stage
let heard: string[]
beforeEach(async () => {
  stage = await Stage.open()
  heard = []
})
afterEach(() => stage.close())

const TOLD = 'Message from the user: use the other branch'
const say = (id: RunId, key: string | null = null) =>
  stage.engine.say(id, { text: 'use the other branch' }, key)
const statesOf = async (id: RunId) => (await stage.engine.listMessages(id)).map(({ state }) => state)

/** Works until it is told something, and ends after it. */
const listens: Script = async (agent) => {
  await agent.begin()
  agent.print({ type: 'text-delta', text: 'working' })
  heard.push(...((await agent.takePrompt()) ?? []))
  agent.callModel()
  agent.finish('as you say')
  for (let texts = await agent.takePrompt(); texts !== null; texts = await agent.takePrompt())
    heard.push(...texts)
  return 0
}

const working = async (id: RunId) => {
  await stage.until(async () => (await stage.eventsOf(id, 'text-delta')).length > 0)
  return id
}

test('an agent at work reads a message once, told who says it, and its events show that', async () => {
  stage.play(listens)
  const id = await working(await stage.admit())
  const message = { text: 'main is red', from: 'the build' }
  const said = await stage.engine.say(id, message, 'key')
  expect(await stage.engine.say(id, message, 'key')).toMatchObject({ id: said.id })
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', resultText: 'as you say' })
  expect(heard).toEqual(['Message from the build: main is red'])
  expect(await stage.eventsOf(id, 'message')).toMatchObject([message])
  expect(await stage.engine.listMessages(id)).toMatchObject([{ ...message, state: 'read' }])
})

test('the message stands before what the agent says after it, also when both are read at once', async () => {
  stage.play(async (agent) => {
    await agent.begin()
    agent.print({ type: 'text-delta', text: 'working' })
    await agent.takePrompt()
    agent.print({ type: 'text-delta', text: 'as you say' })
    agent.finish('as you say')
    return answersAll(agent)
  })
  const id = await working(await stage.admit())
  await say(id)
  await stage.settled(id)
  const texts = (await stage.events(id)).flatMap((event) =>
    event.type === 'message' || event.type === 'text-delta' ? [event.text] : [],
  )
  expect(texts).toEqual(['working', 'use the other branch', 'as you say'])
})

test.each([
  ['after', 'sayToRun'],
  ['before', 'noteGiven'],
  ['after', 'noteGiven'],
  ['before', 'markRead'],
  ['after', 'markRead'],
  ['before', 'endAttempt'],
] as const)('killed %s %s, the message is read once all the same', async (when, write) => {
  stage.play(listens)
  const id = await working(await stage.admit())
  stage.life.endAt(when, write)
  void say(id)
  await stage.life.over
  await stage.reopen()
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', resultText: 'as you say' })
  expect(heard).toEqual([TOLD])
  expect(await stage.eventsOf(id, 'message')).toHaveLength(1)
  await stage.until(async () => (await statesOf(id))[0] === 'read')
})

test('a message that the agent did not read before it died is read by the next attempt', async () => {
  const dying: Script = async (agent) => {
    await agent.begin()
    agent.print({ type: 'text-delta', text: 'working' })
    await agent.next()
    return 1
  }
  stage.play(dying, listens)
  const { id } = await stage.engine
    .createJob({ prompt: 'do it', workDir: stage.workDir }, null)
    .then(({ job }) => job)
  const runOf = async () => (await stage.engine.listRuns({ limit: 1, jobId: id })).items[0]
  await stage.until(async () => (await runOf()) !== undefined)
  const run = (await runOf())!
  await working(run.id as RunId)
  await say(run.id as RunId)
  expect(await stage.settled(run.id)).toMatchObject({ outcome: 'completed', attemptCount: 2 })
  expect(heard).toEqual([TOLD])
})

test.each([
  ['is given to the next attempt again, if the agent died before it wrote it down', false, [TOLD]],
  ['is not given again, if it is in the session', true, []],
] as const)('a message that was taken %s', async (_, written, again) => {
  const dying: Script = async (agent) => {
    await agent.begin()
    agent.print({ type: 'text-delta', text: 'working' })
    const taken = await agent.next()
    if (taken?.type !== 'prompt') return 0
    if (written) stage.transcripts.record(agent.start.agentSessionId, taken.id)
    agent.print({ type: 'prompt-accept', messageId: taken.id })
    return 1
  }
  const goesOn: Script = async (agent) => {
    await agent.begin()
    for (let left = again.length; left > 0; left--) heard.push(...((await agent.takePrompt()) ?? []))
    agent.finish('done')
    for (let texts = await agent.takePrompt(); texts !== null; texts = await agent.takePrompt())
      heard.push(...texts)
    return 0
  }
  stage.play(dying, goesOn)
  const { job } = await stage.engine.createJob({ prompt: 'do it', workDir: stage.workDir }, null)
  const runOf = async () => (await stage.engine.listRuns({ limit: 1, jobId: job.id })).items[0]
  await stage.until(async () => (await runOf()) !== undefined)
  const id = await working((await runOf())!.id as RunId)
  await say(id)
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
  expect(heard).toEqual(again)
  expect(await statesOf(id)).toEqual(['read'])
})

test('an agent that reads nothing in the middle of a turn gets the message when the turn has ended', async () => {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  stage.play(async (agent) => {
    await agent.begin()
    agent.print({ type: 'text-delta', text: 'working' })
    await released
    agent.finish('done')
    return answersAll(agent)
  })
  const id = await working(await stage.admit({ agent: 'other' }))
  await say(id)
  release()
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', resultText: `to ${TOLD}` })
  expect(await statesOf(id)).toEqual(['read'])
})

test('a message that waits in an agent whose turn fails is answered in its next turn, and paid', async () => {
  stage.play(async (agent) => {
    await agent.begin()
    agent.print({ type: 'text-delta', text: 'working' })
    const queued = await agent.next()
    if (queued?.type !== 'prompt') return 1
    agent.finish('limited', { outcome: { name: 'rate-limited', message: 'limited' } })
    await stage.until(async () => (await stage.eventsOf(id, 'turn-end')).length > 0)
    agent.print({ type: 'prompt-accept', messageId: queued.id }, { type: 'model-request' })
    // An agent that is told to end drops the answer under way.
    const told = agent.next().then(() => 'to end')
    if ((await Promise.race([told, stage.until(isRead)])) === 'to end') return 1
    agent.callModel(70)
    agent.finish('as you say')
    await told
    return agent.leave()
  })
  const isRead = async () => (await statesOf(id))[0] === 'read'
  const id: RunId = await stage.admit()
  await working(id)
  await say(id)
  expect(await stage.settled(id)).toMatchObject({
    outcome: 'completed',
    attemptCount: 1,
    resultText: 'as you say',
    usage: { outputTokens: 80 },
  })
})

test('a message that a conversation hears too late is its next turn, once', async () => {
  const chat = await MemoryChat.create(stage)
  stage.play(answers('first'), answersAll)
  const { id } = await chat.say('hello', { model: 'opus', permissions: 'ask-all' })
  const said = await say(id as RunId, 'key')
  expect(said).toMatchObject({ state: 'turn', nextRunId: expect.stringMatching(/^run_/) })
  expect(await say(id as RunId, 'key')).toEqual(said)
  expect(await stage.settled(said.nextRunId ?? '')).toMatchObject({
    prompt: 'use the other branch',
    outcome: 'completed',
    turn: 2,
    model: 'opus',
    permissions: 'ask-all',
  })
})

test.each(['before', 'after'] as const)(
  'killed %s a message that came too late is closed, it is the next turn once',
  async (when) => {
    const chat = await MemoryChat.create(stage)
    stage.play(answers('first'), answersAll)
    const { id } = await chat.say('hello')
    stage.life.endAt(when, 'settleMessage')
    void say(id as RunId)
    await stage.life.over
    await stage.reopen()
    await stage.until(async () => (await statesOf(id as RunId))[0] === 'turn')
    const { items } = await stage.engine.listRuns({ limit: 10, conversationId: chat.id })
    expect(items.map(({ prompt }) => prompt)).toEqual(['use the other branch', 'hello'])
    await stage.settled(items[0]!.id)
  },
)

test('nobody is told silently: a run that has ended refuses, a cancelled one misses the message', async () => {
  stage.play(answers('done'))
  const { id } = await stage.run()
  await expect(say(id as RunId)).rejects.toMatchObject({ code: 'run-settled' })

  const chat = await MemoryChat.create(stage)
  const held = await chat.postHeld('hello', new HeldAgent('working'))
  await stage.engine.cancel(held as RunId)
  await say(held as RunId)
  await stage.settled(held)
  await stage.until(async () => (await statesOf(held as RunId))[0] === 'missed')
})
