/** Turns whose agent dies, and engines that are killed around the end of a turn: no answer and no text is lost or doubled. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemoryChat } from '../../support/memory/chat.ts'
import { answers, type Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
let chat: MemoryChat
beforeEach(async () => {
  stage = await Stage.open()
  chat = await MemoryChat.create(stage)
})
afterEach(() => stage.close())

const lastPrompt = () => stage.processes.starts().at(-1)?.prompt.join('\n') ?? ''

describe('an agent that dies', () => {
  const COLOURS = { 'Which colour?': 'Blue' }
  /** Asks, and is killed before it reads an answer. */
  const asksAndDies =
    (died: Promise<void>): Script =>
    async (agent) => {
      await agent.begin()
      void agent.askUser('Which colour?', 'Red', 'Blue')
      await died
      return 139
    }

  test('after its question was answered is sent the answer when it continues', async () => {
    let die = () => {}
    stage.play(asksAndDies(new Promise((resolve) => (die = resolve))), answers('Painted.'))
    const { id } = await chat.post('paint it')
    const [question] = await stage.pending(id)
    // An agent that hangs gets no answer.
    for (const process of stage.processes.all()) process.closeInput()
    await stage.engine.answer(id, { toolUseId: question?.toolUseId ?? '', answers: COLOURS })
    die()
    expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
    expect(lastPrompt()).toContain('answered "Which colour?" = "Blue"')
    expect(lastPrompt()).not.toContain('unknown')
    await chat.say('and now?', { forceFreshSession: true })
    expect(lastPrompt()).toContain('[asked: Which colour? — answered: "Which colour?" = "Blue"]')
  })

  test('with an open question may ask it again', async () => {
    let die = () => {}
    stage.play(asksAndDies(new Promise((resolve) => (die = resolve))), answers('Painted.'))
    const { id } = await chat.post('paint it')
    await stage.pending(id)
    die()
    expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 2 })
    expect(lastPrompt()).toContain('not answered yet; ask again')
    expect(lastPrompt()).not.toContain('may have run')
  })

  test('in the middle of a sentence is sent the part that was seen', async () => {
    stage.play(async (agent) => {
      await agent.begin()
      agent.print({ type: 'text-delta', text: 'one two three ' })
      return 139
    }, answers('Noted.'))
    expect(await chat.say('count')).toMatchObject({ outcome: 'completed', attemptCount: 2 })
    expect(lastPrompt()).toContain('<said>one two three </said>')
    expect(await chat.texts()).toEqual(['user: count', 'memory: one two three Noted.'])
  })
})

test('after a turn whose question nobody answered, the next prompt may be the answer', async () => {
  stage.play(async (agent) => {
    await agent.begin()
    await agent.askUser('Which colour?', 'Red', 'Blue')
    return agent.leave()
  })
  const { id } = await chat.post('paint it')
  await stage.pending(id)
  stage.clock.advance(30 * 86_400_000)
  expect(await stage.settled(id)).toMatchObject({ outcome: 'question-timeout' })
  expect(await chat.say('red')).toMatchObject({ outcome: 'completed', resumed: true })
  expect(lastPrompt()).toContain('it may be the answer')
  expect(lastPrompt()).not.toContain('have been answered')
  await chat.say('thanks')
  expect(lastPrompt()).toContain('have been answered')
})

test('the engine is killed around each write of a turn: one answer, and the next turn resumes with it', async () => {
  const scene = async () => {
    stage = await Stage.open()
    chat = await MemoryChat.create(stage)
    stage.play(answers('Noted.'), answers('Second answer.'), answers('Third answer.'))
    await chat.say('first')
  }
  await stage.close()
  await scene()
  const before = stage.life.writes.length
  await chat.say('second')
  const writes = stage.life.writes.slice(before)
  expect(writes).toEqual(expect.arrayContaining(['startAttempt', 'markLaunched', 'endAttempt']))
  for (const index of writes.keys()) {
    for (const when of ['before', 'after'] as const) {
      await stage.close()
      await scene()
      stage.life.endAt(when, stage.life.writes.length + index + 1)
      void chat.post('second', {}, 'k')
      await stage.life.over
      await stage.reopen()
      const point = `${when} write ${index + 1}, ${writes[index]}`
      const { id } = await chat.post('second', {}, 'k')
      expect(await stage.settled(id), point).toMatchObject({ outcome: 'completed', resumed: true })
      expect(await chat.texts(), point).toEqual([
        'user: first',
        'memory: Noted.',
        'user: second',
        'memory: Second answer.',
      ])
      expect(await chat.say('third'), point).toMatchObject({ resumed: true })
      expect(lastPrompt(), point).not.toContain('second')
      expect(stage.processes.starts(), point).toHaveLength(3)
    }
  }
})
