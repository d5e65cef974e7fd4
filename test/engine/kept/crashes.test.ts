/**
 * The engine is killed before and after every write while processes are kept, reused, started ahead and given up. Another
 * one recovers: every turn is answered once and paid for once, in one session, and nothing is left running.
 */
import { afterEach, expect, test } from 'vitest'
import type { ConversationId } from '../../../src/contract/ids.ts'
import { MemoryChat } from '../../support/memory/chat.ts'
import { answersAll } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const TURNS = ['one', 'two', 'three']

async function begin(): Promise<MemoryChat> {
  stage = await Stage.open({ config: { conversations: { keepWarm: '5m' } } })
  stage.play(...Array.from({ length: 20 }, () => answersAll))
  return MemoryChat.create(stage)
}

/** A turn, another one in the same process, one in a process that was started ahead, and the end of all. */
async function live(chat: MemoryChat, from = 0): Promise<void> {
  for (const [index, text] of TURNS.entries()) {
    if (index < from) continue
    if (index === 2) {
      const [kept] = stage.engine.listKept()
      const [session] = kept ? [await stage.store.getSession(kept.sessionId)] : []
      if (session) await stage.engine.exportSession(session.id, {} as never).catch(() => {})
      await stage.engine.warmConversation(chat.id, {})
    }
    await stage.settled((await chat.post(text, {}, `key-${index}`)).id)
  }
  await stage.engine.close()
}

const whileAlive = (work: Promise<void>) => Promise.race([work.catch(() => {}), stage.life.over])

async function expectAllAnswered(id: ConversationId): Promise<void> {
  const runs = await stage.engine.listRuns({ limit: 10 })
  expect(runs.items.map((run) => [run.outcome, run.costUsd])).toEqual(TURNS.map(() => ['completed', 1]))
  const { messages } = await stage.engine.getConversation(id)
  expect(messages.map(({ role }) => role)).toEqual(TURNS.flatMap(() => ['user', 'assistant']))
  expect(new Set(stage.processes.starts().map(({ agentSessionId }) => agentSessionId)).size).toBe(1)
  for (const { id: runId } of runs.items) expect(await stage.eventsOf(runId, 'prompt-accept')).toHaveLength(1)
  expect(stage.processes.all().filter(({ alive }) => alive)).toHaveLength(0)
  expect(await stage.store.listOpenProcesses()).toEqual([])
}

test('without a kill', async () => {
  const chat = await begin()
  await live(chat)
  expect(stage.processes.starts()).toHaveLength(2)
  await expectAllAnswered(chat.id)
})

test('at every write', async () => {
  const chat = await begin()
  const before = stage.life.writes.length
  await live(chat)
  const writes = stage.life.writes.slice(before)
  expect(writes).toEqual(
    expect.arrayContaining(['startAttempt', 'endAttempt', 'startKept', 'markKept', 'leaveKept', 'endKept']),
  )
  await stage.close()
  for (const when of ['before', 'after'] as const) {
    for (const [index, write] of writes.entries()) {
      const doomed = await begin()
      stage.life.endAt(when, stage.life.writes.length + index + 1)
      await whileAlive(live(doomed))
      await stage.reopen()
      const again = MemoryChat.of(stage, doomed.id)
      try {
        await live(again)
        await expectAllAnswered(doomed.id)
      } catch (error) {
        throw new Error(`killed ${when} write ${index + 1}, ${write}`, { cause: error })
      }
      await stage.close()
    }
  }
})

test('a process that is kept is adopted, and has the next turn', async () => {
  const chat = await begin()
  await chat.say('one')
  await stage.drop()
  await stage.reopen()
  expect(stage.engine.listKept()).toMatchObject([{ conversationId: chat.id }])
  await MemoryChat.of(stage, chat.id).say('two')
  expect(stage.processes.starts()).toHaveLength(1)
})

test('a process that died with the engine is forgotten', async () => {
  const chat = await begin()
  await chat.say('one')
  await stage.drop()
  for (const process of stage.processes.all()) process.kill()
  await stage.reopen()
  await stage.until(() => stage.engine.listKept().length === 0)
  expect(await MemoryChat.of(stage, chat.id).say('two')).toMatchObject({ outcome: 'completed' })
  expect(stage.processes.starts().map(({ resume }) => resume)).toEqual([false, true])
})

test('a process that was told to leave gets no turn, also if it takes its time', async () => {
  const chat = await begin()
  stage.processes.scripts.unshift(async (agent) => {
    await agent.begin()
    agent.finish('first')
    await agent.next()
    stage.life.end()
    await agent.next()
    return 0
  })
  await chat.say('one')
  const [kept] = stage.engine.listKept()
  void stage.engine.exportSession(kept?.sessionId ?? '', {} as never).catch(() => {})
  await stage.life.over
  await stage.reopen()
  const run = await MemoryChat.of(stage, chat.id).say('two')
  expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1, resumed: true })
  expect(stage.processes.starts()).toHaveLength(2)
})

test('a process is not told to leave before that is stored', async () => {
  const chat = await begin()
  await chat.say('one')
  const [kept] = stage.engine.listKept()
  stage.life.endAt('before', 'leaveKept')
  void stage.engine.exportSession(kept?.sessionId ?? '', {} as never).catch(() => {})
  await stage.life.over
  await stage.reopen()
  expect(await MemoryChat.of(stage, chat.id).say('two')).toMatchObject({ attemptCount: 1 })
  expect(stage.processes.starts()).toHaveLength(1)
})

test('a process that was kept with other settings is ended when its turn comes', async () => {
  const chat = await begin()
  await chat.say('one')
  await stage.drop()
  await stage.reopen({ capabilities: { partialMessages: false } })
  expect(await MemoryChat.of(stage, chat.id).say('two')).toMatchObject({ outcome: 'completed' })
  expect(stage.processes.starts()).toHaveLength(2)
  expect(stage.processes.all().filter(({ alive }) => alive)).toHaveLength(1)
})
