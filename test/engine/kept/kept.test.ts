/** Turns in kept processes, on agents in memory. */
import { afterEach, expect, test } from 'vitest'
import { MemoryChat } from '../../support/memory/chat.ts'
import type { Script } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

/** Answers every prompt that it is given, until it is told to leave. */
const answersAll: Script = async (agent) => {
  for (let count = 1; await agent.takePrompt(); count++) {
    agent.print({ type: 'session-start', agentSessionId: agent.start.agentSessionId })
    agent.callModel()
    agent.finish(`answer ${count}`, { costUsd: 1 })
  }
  return 0
}

let stage: Stage

afterEach(async () => {
  await stage.close()
  expect(stage.processes.all().filter(({ alive }) => alive)).toHaveLength(0)
})

async function openChat(options: StageOptions = {}) {
  stage = await Stage.open({ config: { conversations: { keepWarm: '5m' } }, ...options })
  stage.play(...Array.from({ length: 20 }, () => answersAll))
  return MemoryChat.create(stage)
}

const starts = () => stage.processes.starts().length
const alive = () => stage.processes.all().filter((process) => process.alive).length

test('the next turn is given to the process of the last one', async () => {
  const chat = await openChat()
  const first = await chat.say('one')
  expect(stage.engine.listKept()).toMatchObject([{ conversationId: chat.id, preStarted: false }])
  const second = await chat.say('two')
  const third = await chat.say('three')
  expect(starts()).toBe(1)
  expect([first, second, third].map((run) => run.state)).toEqual(['settled', 'settled', 'settled'])
  expect(await chat.texts()).toEqual([
    'user: one',
    'memory: answer 1',
    'user: two',
    'memory: answer 2',
    'user: three',
    'memory: answer 3',
  ])
  expect([first, second, third].map((run) => run.costUsd)).toEqual([1, 1, 1])
  const [start] = await stage.eventsOf(second.id, 'attempt-start')
  expect(start).toMatchObject({ resumed: true, carry: 'none', kept: true })
})
