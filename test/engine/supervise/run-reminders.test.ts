/** An agent that compacts its session in the middle of a turn is told at once what it may have forgotten. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MemoryChat } from '../../support/memory/chat.ts'
import { answers, type Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
})
afterEach(() => stage.close())

let reminded: (readonly string[] | null)[] = []
beforeEach(() => {
  reminded = []
})
const compacts: Script = async (agent) => {
  await agent.begin()
  reminded.push(await agent.compact())
  agent.finish('It fits.')
  return agent.leave()
}
const text = () => reminded.map((texts) => texts?.join('\n') ?? '')
const lastPrompt = () => stage.processes.starts().at(-1)?.prompt.join('\n') ?? ''

test('a turn: its instructions and its question, and the next message does not repeat them', async () => {
  const chat = await MemoryChat.create(stage, { instructions: 'Speak like a pirate.' })
  stage.play(answers('one'), compacts, answers('two'))
  await chat.say('one')
  const { id } = await chat.say('too much')
  expect(text()).toEqual([expect.stringMatching(/Speak like a pirate\.[\s\S]*<task>\ntoo much\n<\/task>/)])
  expect(await stage.eventsOf(id, 'reminder')).toMatchObject([{ whole: true }])
  expect(await chat.say('and on')).toMatchObject({ resumed: true })
  expect(lastPrompt()).not.toContain('pirate')
})

test('what does not fit is told with the next message', async () => {
  const instructions = `Speak like a pirate. ${'Arr! '.repeat(3000)}`
  const chat = await MemoryChat.create(stage, { instructions })
  stage.play(answers('one'), compacts, answers('two'))
  await chat.say('one')
  await chat.say('too much')
  expect(text()[0]).toContain(instructions)
  await chat.say('and on')
  expect(lastPrompt()).toContain('Speak like a pirate.')
})

test('a reminder that came too late is told with the next message', async () => {
  const chat = await MemoryChat.create(stage, { instructions: 'Speak like a pirate.' })
  stage.play(answers('one'), async (agent) => {
    await agent.begin()
    agent.print({ type: 'reminder-ask', requestId: 'late' })
    await agent.next()
    agent.print({ type: 'question-cancel', requestId: 'late' }, { type: 'compaction' })
    agent.finish('It fits.')
    return agent.leave()
  })
  await chat.say('one')
  await chat.say('too much')
  await chat.say('and on')
  expect(lastPrompt()).toContain('Speak like a pirate.')
})

test('after each compaction of a turn; a later attempt is told by its own message', async () => {
  const chat = await MemoryChat.create(stage, { instructions: 'Speak like a pirate.' })
  stage.play(async (agent) => {
    await agent.begin()
    for (let i = 0; i < 2; i++) reminded.push(await agent.compact())
    return 1
  }, answers('done'))
  expect(await chat.say('too much')).toMatchObject({ outcome: 'completed', attemptCount: 2 })
  expect(text()).toEqual([expect.stringContaining('pirate'), expect.stringContaining('pirate')])
  expect(lastPrompt()).toMatch(/pirate[\s\S]*too much/)
})

const hearsAndCompacts: Script = async (agent) => {
  await agent.begin()
  agent.print({ type: 'text-delta', text: 'working' })
  await agent.takePrompt()
  reminded.push(await agent.compact())
  return 1
}

test('what was said to it in the middle of the turn: at once, and in a later attempt', async () => {
  stage.play(hearsAndCompacts, answers('done'))
  const id = await stage.admit({ prompt: 'mend the roof' })
  await stage.until(async () => (await stage.eventsOf(id, 'text-delta')).length > 0)
  await stage.engine.say(id, { text: 'with slate, not tin' }, null)
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 2, resumed: true })
  const both = /mend the roof[\s\S]*Message from the user: with slate, not tin/
  expect(text()).toEqual([expect.stringMatching(both)])
  expect(lastPrompt()).toMatch(both)
})

test('a tier: its role, its environment and its task', async () => {
  await stage.close()
  const tiers = { 1: { model: 'memory-1', tools: ['Bash'], commands: { allow: ['ls *'] } } }
  stage = await Stage.open({ config: { tiers } })
  stage.play(compacts)
  const id = await stage.admit({ tier: 1, prompt: 'check the web server', environment: 'It is on obsidian.' })
  await stage.settled(id)
  expect(text()).toEqual([expect.stringMatching(/tier 1[\s\S]*obsidian[\s\S]*check the web server/)])
})

test('the answer of an engine that dies before it has stored the question is not repeated', async () => {
  let begin = () => {}
  const toBegin = new Promise<void>((resolve) => (begin = resolve))
  stage.play(async (agent) => {
    await agent.begin()
    await toBegin
    reminded.push(await agent.compact())
    agent.finish('It fits.')
    return agent.leave()
  })
  const id = await stage.admit({ prompt: 'mend the roof' })
  await stage.until(async () => (await stage.eventsOf(id, 'model-call')).length > 0)
  stage.life.endAt('before', 'advanceAttempt')
  begin()
  await stage.life.over
  await stage.reopen()
  expect(await stage.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  expect(text()).toEqual([expect.stringContaining('mend the roof')])
})

test('a sub-agent, and a compaction that was asked for: not told', async () => {
  stage.play(async (agent) => {
    await agent.begin()
    agent.print({ type: 'reminder-ask', requestId: 'of a sub-agent', subAgent: true })
    const line = await agent.next()
    reminded.push(line?.type === 'reminder' ? line.texts : null)
    agent.finish('Done.')
    return agent.leave()
  })
  await stage.settled(await stage.admit({ prompt: 'mend the roof' }))
  stage.play(compacts)
  await stage.settled(await stage.admit({ prompt: '/make-room' }))
  expect(reminded).toEqual([[], []])
})
