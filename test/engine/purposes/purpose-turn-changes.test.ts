/** Changes of a conversation's history while a turn waits, starts, runs, or has died and waits for its next attempt. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemoryChat } from '../../support/memory/chat.ts'
import { HeldAgent } from '../../support/memory/held.ts'
import { answers, dies, type Script } from '../../support/memory/script.ts'
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

describe('an edit', () => {
  test('of an earlier message while a turn runs: the answer stays, the session is not used again', async () => {
    await chat.say('first words')
    const agent = new HeldAgent('x', 'Second answer.')
    const id = await chat.postHeld('second', agent)
    await chat.edit(0, 'other words')
    agent.release()
    expect(await stage.settled(id)).toMatchObject({ outcome: 'completed' })
    expect(await chat.texts()).toContain('memory: Second answer.')
    expect(await chat.say('third')).toMatchObject({ resumed: false, freshReason: 'history-changed' })
    expect(given()).toContain('other words')
    expect(given()).not.toContain('first words')
  })

  test('of the question while it is answered: it is asked again, nothing of the first answer is kept', async () => {
    stage.play(answers('Noted.'))
    await chat.say('first')
    const id = await chat.postHeld('second', new HeldAgent('Beginning'))
    stage.play(answers('Other answer.'), answers('Noted.'))
    const later = await chat.post('third')
    await chat.edit(2, 'other words')
    expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', resultText: 'Other answer.' })
    await stage.settled(later.id)
    expect(await chat.texts()).toEqual([
      'user: first',
      'memory: Noted.',
      'user: other words',
      'memory: Other answer.',
      'user: third',
      'memory: Noted.',
    ])
    expect(given()).toContain('other words')
    expect(given()).not.toMatch(/second|Beginning/)
  })

  test('of a turn that still waits changes what is asked', async () => {
    const agent = new HeldAgent('x', 'x')
    await chat.postHeld('first', agent)
    const { id } = await chat.post('second')
    await chat.edit(1, 'second, corrected')
    agent.release()
    await stage.settled(id)
    expect(lastPrompt()).toContain('second, corrected')
  })

  test('that comes just as the turn starts is asked, or makes the session stale; never neither', async () => {
    await chat.say('hello')
    for (let n = 0; n < 6; n++) {
      const { id } = await chat.post(`old ${n}.`)
      // Each round at another point of the start.
      for (let turn = 0; turn < n; turn++) await new Promise((next) => setImmediate(next))
      await chat.editLastQuestion(`new ${n}.`)
      await stage.settled(id)
    }
    await chat.say('last')
    expect(given()).not.toMatch(/old \d+\./)
    for (let n = 0; n < 6; n++) expect(given()).toContain(`new ${n}.`)
  })
})

test('a running turn that is removed is cancelled; its answer is not kept', async () => {
  stage.play(answers('Noted.'))
  await chat.say('first')
  const id = await chat.postHeld('second', new HeldAgent('Beginning'))
  await chat.drop(2)
  expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled' })
  expect(await chat.texts()).toEqual(['user: first', 'memory: Noted.'])
  await chat.say('third')
  expect(given()).not.toMatch(/second|Beginning/)
})

describe('between two attempts of a turn', () => {
  const begins: Script = async (agent) => {
    await agent.begin()
    agent.print({ type: 'text-delta', text: 'Beginning' })
    return 139
  }
  /** A turn that has died twice and waits for its third attempt. */
  async function waiting(text: string) {
    stage.play(answers('Noted.'), begins, dies(139))
    await chat.say('hello')
    const { id } = await chat.post(text)
    await stage.until(async () => {
      const { state, notBefore, attemptCount } = await stage.engine.getRun(id)
      return state === 'queued' && notBefore !== null && attemptCount === 2
    })
    return id
  }

  test('its question is edited: it is asked as it is now', async () => {
    const id = await waiting('OLDTEXT')
    await chat.edit(2, 'NEWTEXT')
    await stage.engine.continueRun(id)
    expect(await stage.settled(id)).toMatchObject({
      outcome: 'completed',
      resumed: false,
      freshReason: 'history-changed',
    })
    expect(given()).toContain('NEWTEXT')
    expect(await chat.say('third')).toMatchObject({ resumed: true })
    expect(given()).not.toContain('OLDTEXT')
  })

  test('its question is removed: it is not asked again, and no session contains it', async () => {
    const id = await waiting('SECRET')
    await chat.drop(2)
    expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled' })
    await chat.say('third')
    expect(given()).not.toContain('SECRET')
  })

  test('it is cancelled: what was said is kept', async () => {
    const id = await waiting('long one')
    await stage.engine.cancel(id)
    expect(await stage.settled(id)).toMatchObject({ outcome: 'cancelled' })
    const answer = await chat.message(3)
    expect(answer).toMatchObject({ role: 'assistant', state: 'cancelled' })
    expect(JSON.stringify(answer.blocks)).toContain('Beginning')
  })
})
