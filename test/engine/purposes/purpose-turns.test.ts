/** Turns of a conversation: their order, questions, instructions, and what does not fit. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemoryChat } from '../../support/memory/chat.ts'
import { HeldAgent } from '../../support/memory/held.ts'
import { answers, type Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
let chat: MemoryChat
beforeEach(async () => {
  stage = await Stage.open()
  chat = await MemoryChat.create(stage)
})
afterEach(() => stage.close())

const given = () => stage.processes.given()
const lastPrompt = () => stage.processes.starts().at(-1)?.prompt.join('\n') ?? ''

describe('turns', () => {
  test('posted at once are answered one after the other, in order', async () => {
    const slow = new HeldAgent('', 'Slow answer.')
    const first = await chat.postHeld('slow one', slow)
    stage.play(answers('Noted.'), answers('Noted.'))
    const [second, third] = [await chat.post('second'), await chat.post('third')]
    expect((await stage.engine.getRun(second.id)).state).toBe('queued')
    slow.release()
    for (const id of [first, second.id, third.id])
      expect(await stage.settled(id)).toMatchObject({ outcome: 'completed' })
    expect(await chat.texts()).toEqual([
      'user: slow one',
      'memory: Slow answer.',
      'user: second',
      'memory: Noted.',
      'user: third',
      'memory: Noted.',
    ])
    expect(stage.processes.starts().map(({ resume }) => resume)).toEqual([false, true, true])
    for (const text of ['slow one', 'second', 'third']) expect(given()).toContain(text)
  })

  test('of different conversations run at the same time', async () => {
    const slow = new HeldAgent('x', 'x')
    const held = await chat.postHeld('hold on', slow)
    const other = await MemoryChat.create(stage)
    expect(await other.say('quick')).toMatchObject({ outcome: 'completed' })
    expect(await stage.engine.getRun(held)).toMatchObject({ state: 'running' })
    slow.release()
    await stage.settled(held)
  })

  test('repeated with the same key are the same turn', async () => {
    stage.play(answers('Noted.'))
    const [a, b] = [await chat.post('once', {}, 'k1'), await chat.post('once', {}, 'k1')]
    expect(a.id).toBe(b.id)
    await stage.settled(a.id)
    expect(await chat.texts()).toEqual(['user: once', 'memory: Noted.'])
    expect(stage.processes.starts()).toHaveLength(1)
  })

  test('are counted, with what resuming saved', async () => {
    const prompts = ['one', 'two', 'three', 'four']
    for (const text of prompts) await chat.say(text)
    const stats = await stage.engine.readStats()
    expect(stats).toMatchObject({ runs: 4, resumedRuns: 3, conversations: 1, outcomes: { completed: 4 } })
    expect(stats.promptTokensSaved).toBeGreaterThan(0)
  })

  test('may have a limit of their own', async () => {
    stage.play(answers('', { outcome: { name: 'turn-limit', message: 'took 1 turn' } }))
    expect(await chat.say('work', { maxTurns: 1 })).toMatchObject({ outcome: 'turn-limit' })
    expect(stage.processes.starts()).toMatchObject([{ maxTurns: 1 }])
  })

  test('a question of the agent is answered in a resumed session, and is in a later transcript', async () => {
    const asks: Script = async (agent) => {
      await agent.begin()
      const answer = await agent.askUser('Which colour?', 'Red', 'Blue')
      agent.finish(`Painted ${answer?.answers?.['Which colour?']}.`)
      return agent.leave()
    }
    stage.play(answers('hi'), asks)
    await chat.say('hello')
    const { id } = await chat.post('paint it')
    const [question] = await stage.pending(id)
    expect(await stage.engine.getRun(id)).toMatchObject({ resumed: true })
    await stage.engine.answer(id, {
      toolUseId: question?.toolUseId ?? '',
      answers: { 'Which colour?': 'Blue' },
    })
    expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', resultText: 'Painted Blue.' })
    const { blocks } = await chat.message(3)
    expect(blocks.map(({ type }) => type)).toEqual(['tool-use', 'tool-result', 'text'])
    await chat.say('later', { forceFreshSession: true })
    expect(lastPrompt()).toMatch(/\[asked: Which colour\? — answered: .*Blue/)
  })

  test('that wait for a person keep no other run from starting', async () => {
    await stage.engine.close()
    await stage.reopen({ config: { run: { concurrency: 1 } } })
    stage.play(async (agent) => {
      await agent.begin()
      await agent.ask('Bash', { command: 'touch x' })
      return agent.leave()
    })
    const asking = await chat.post('wait', { permissions: 'ask' })
    await stage.pending(asking.id)
    expect(await stage.run({ prompt: 'meanwhile' })).toMatchObject({ outcome: 'completed' })
    await stage.engine.cancel(asking.id)
    expect(await stage.settled(asking.id)).toMatchObject({ outcome: 'cancelled' })
  })
})

test('a session of a conversation is not used by a run outside of it', async () => {
  const { session } = await chat.say('hello')
  const outside = stage.admit({ prompt: 'psst', ...(session ? { sessionId: session } : {}) })
  await expect(outside).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(chat.id),
  })
})

test('a deleted conversation ends its turns; nothing of it can be read any more', async () => {
  const id = await chat.postHeld('hold', new HeldAgent('x'))
  await stage.engine.deleteConversation(chat.id)
  expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled' })
  await expect(stage.engine.getConversation(chat.id)).rejects.toMatchObject({ code: 'not-found' })
  expect(stage.processes.all().filter(({ alive }) => alive)).toEqual([])
})

describe('instructions', () => {
  const instruct = (instructions: string | null) => stage.engine.updateConversation(chat.id, { instructions })

  test('are sent with the first message, and again when they changed or no longer apply', async () => {
    chat = await MemoryChat.create(stage, { instructions: 'Speak like a pirate.' })
    await chat.say('one')
    expect(lastPrompt()).toContain('Speak like a pirate.')
    await chat.say('two')
    expect(lastPrompt()).not.toContain('pirate')
    await instruct('Speak like a poet.')
    expect(await chat.say('three')).toMatchObject({ resumed: true })
    expect(lastPrompt()).toContain('Speak like a poet.')
    await chat.say('four')
    expect(lastPrompt()).not.toContain('poet')
    await instruct(null)
    await chat.say('five')
    expect(lastPrompt()).toContain('no longer apply')
    await chat.say('six', { forceFreshSession: true })
    expect(lastPrompt()).not.toMatch(/pirate|poet/)
  })

  test('are sent with the next message when an agent that cannot be told at once has compacted its session', async () => {
    chat = await MemoryChat.create(stage, { instructions: 'Speak like a pirate.' })
    stage.play(answers('one'), async (agent) => {
      await agent.begin()
      agent.print({ type: 'compaction' })
      agent.finish('It fits.')
      return agent.leave()
    })
    await chat.say('one')
    const { sessionId } = await chat.say('too much')
    expect(await chat.say('after it')).toMatchObject({ resumed: true, sessionId, attemptCount: 1 })
    expect(lastPrompt()).toContain('Speak like a pirate.')
    await chat.say('and on')
    expect(lastPrompt()).not.toContain('pirate')
  })
})

describe('a message that does not fit', () => {
  const overflows = answers('', { outcome: { name: 'context-overflow', message: 'too long' } })

  test('is asked again when the session has been compacted in place', async () => {
    stage.play(answers('hi'), overflows, answers('room made'), answers('It fits now.'))
    const first = await chat.say('hello')
    const run = await chat.say('this is too much')
    expect(run).toMatchObject({ outcome: 'completed', resumed: true, sessionId: first.sessionId })
    expect(run.attempts.map(({ outcome }) => outcome?.name)).toEqual([
      'context-overflow',
      'completed',
      'completed',
    ])
    expect((await chat.texts()).at(-1)).toBe('memory: It fits now.')
    expect(await chat.say('and on')).toMatchObject({ outcome: 'completed', resumed: true })
  })
})
