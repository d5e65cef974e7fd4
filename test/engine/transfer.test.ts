/**
 * Forks of conversations and moves of sessions, with agents in memory. Their sessions cannot be copied, so a fork starts
 * with the history. Forks on the real CLI are in test/transfer.
 */
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MessageId } from '../../src/contract/ids.ts'
import { MemoryChat } from '../support/memory/chat.ts'
import { HeldAgent } from '../support/memory/held.ts'
import { answers } from '../support/memory/script.ts'
import { Stage } from '../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
})
afterEach(() => stage.close())

const lastPrompt = () => stage.processes.starts().at(-1)?.prompt.join('\n') ?? ''

describe('a fork of a conversation whose session cannot be copied', () => {
  test('starts a new session with the history up to the message', async () => {
    const chat = await MemoryChat.create(stage, { title: 'Colours' })
    stage.play(answers('Noted: red'), answers('Noted: green'), answers('Noted: blue'))
    await chat.say('red')
    await chat.say('green')
    const fork = await stage.engine.forkConversation(chat.id, { at: (await chat.message(1)).id })
    expect(fork).toMatchObject({ title: 'Colours', turnCount: 1, agents: [] })
    expect(fork.messages.map(({ blocks }) => blocks)).toEqual([
      [{ type: 'text', text: 'red' }],
      [{ type: 'text', text: 'Noted: red' }],
    ])
    const { run } = await stage.engine.createTurn(fork.id, { text: 'blue' }, null)
    expect(await stage.settled(run.id)).toMatchObject({
      outcome: 'completed',
      resumed: false,
      freshReason: 'first-run',
      carry: 'transcript',
    })
    expect(lastPrompt()).toContain('Noted: red')
    expect(lastPrompt()).not.toContain('green')
    expect((await stage.engine.getConversation(chat.id)).turnCount).toBe(2)
  })

  test('is refused while its last turn is being answered, and for a message of another conversation', async () => {
    const chat = await MemoryChat.create(stage)
    stage.play(answers('Noted: red'))
    await chat.say('red')
    const agent = new HeldAgent('thinking')
    const id = await chat.postHeld('green', agent)
    await expect(stage.engine.forkConversation(chat.id, {})).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(id),
    })
    const { messages } = await stage.engine.forkConversation(chat.id, { at: (await chat.message(0)).id })
    expect(messages).toHaveLength(2)
    const at = MessageId.create(new Date())
    await expect(stage.engine.forkConversation(chat.id, { at })).rejects.toMatchObject({ code: 'not-found' })
    await stage.engine.cancel(id)
    await stage.settled(id)
  })

  test('of an empty conversation is empty', async () => {
    const chat = await MemoryChat.create(stage)
    expect(await stage.engine.forkConversation(chat.id, {})).toMatchObject({ messages: [], turnCount: 0 })
  })
})

describe('a session that is moved', () => {
  test('is resumed in another directory; before, it would not be', async () => {
    stage.play(answers('first'), answers('second'))
    const first = await stage.run()
    const to = join(stage.workDir, 'elsewhere')
    mkdirSync(to)
    const plan = await stage.engine.planSessionMove(first.session!, to)
    expect(plan).toMatchObject({ from: stage.workDir, to, same: false, conversation: null, jobs: [] })
    expect((await stage.engine.getSession(first.session!)).workDir).toBe(stage.workDir)
    await stage.engine.moveSession(first.session!, to)
    expect(await stage.run({ sessionId: first.session!, workDir: to })).toMatchObject({ resumed: true })
  })

  test('takes the job that continues in it along', async () => {
    stage.play(answers('first'), answers('second'))
    const { job } = await stage.engine.createJob(
      { prompt: 'work', workDir: stage.workDir, checkpoints: false },
      null,
    )
    const { session } = await stage.settled(job.runId)
    const to = join(stage.workDir, 'renamed')
    mkdirSync(to)
    expect(await stage.engine.moveSession(session!, to)).toMatchObject({ jobs: [job.id] })
    expect((await stage.store.getJob(job.id))?.options.workDir).toBe(to)
  })

  test('takes its conversation along, and resumes', async () => {
    const chat = await MemoryChat.create(stage)
    stage.play(answers('first'), answers('second'))
    const { session } = await chat.say('one')
    const to = join(stage.workDir, 'elsewhere')
    mkdirSync(to)
    expect(await stage.engine.moveSession(session!, to)).toMatchObject({ conversation: chat.id })
    expect(await chat.say('two')).toMatchObject({ resumed: true, workDir: to })
  })

  test('to a directory that was only renamed is said to be the same', async () => {
    stage.play(answers('first'))
    const from = join(stage.workDir, 'a')
    mkdirSync(from)
    const { session } = await stage.run({ workDir: from })
    renameSync(from, join(stage.workDir, 'b'))
    expect(await stage.engine.planSessionMove(session!, join(stage.workDir, 'b'))).toMatchObject({
      same: true,
    })
  })

  test('is refused while it is used, and for a directory that is not there', async () => {
    const agent = new HeldAgent('thinking')
    stage.play(agent.script)
    const id = await stage.admit()
    await stage.until(async () => (await stage.eventsOf(id, 'text-delta')).length > 0)
    const { session } = await stage.engine.getRun(id)
    await expect(stage.engine.moveSession(session!, stage.workDir)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(id),
    })
    await expect(stage.engine.moveSession(session!, join(stage.workDir, 'no'))).rejects.toMatchObject({
      code: 'work-dir-unusable',
    })
    await stage.engine.cancel(id)
    await stage.settled(id)
  })
})
