/** Turns in kept processes, on agents in memory: when the next turn uses the process of the last one, and when not. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { MemoryChat } from '../../support/memory/chat.ts'
import { answersAll } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

let stage: Stage

afterEach(async () => {
  await stage.close()
  expect(stage.processes.all().filter(({ alive }) => alive)).toHaveLength(0)
})

async function openChat(conversations: object = {}, options: StageOptions = {}) {
  stage = await Stage.open({ config: { conversations: { keepWarm: '5m', ...conversations } }, ...options })
  stage.play(...Array.from({ length: 40 }, () => answersAll))
  return MemoryChat.create(stage)
}

const starts = () => stage.processes.starts()
const last = () => stage.processes.all().at(-1)
const sessionId = () => starts().at(-1)?.agentSessionId ?? ''
const startOf = async (id: string) => (await stage.eventsOf(id, 'attempt-start')).at(-1)

describe('the next turn', () => {
  test('is given to the process of the last one', async () => {
    const chat = await openChat()
    const runs = [await chat.say('one'), await chat.say('two'), await chat.say('three')]
    expect(starts()).toHaveLength(1)
    expect(stage.engine.listKept()).toMatchObject([{ conversationId: chat.id, preStarted: false }])
    expect(await chat.texts()).toEqual([
      'user: one',
      'memory: to one',
      'user: two',
      'memory: to two',
      'user: three',
      'memory: to three',
    ])
    expect(runs.map((run) => run.costUsd)).toEqual([1, 1, 1])
    expect(await startOf(runs[2]?.id ?? '')).toMatchObject({ resumed: true, carry: 'none', kept: true })
  })

  const differences: Record<string, (chat: MemoryChat) => Promise<unknown> | unknown> = {
    'an edited history': (chat) => chat.edit(0, 'changed'),
    'changed settings files': () => {
      stage.transcripts.startFiles = 'changed'
    },
    'an outside turn': () =>
      stage.transcripts.addOutside(sessionId(), {
        id: 'outside',
        text: 'by hand',
        answer: [{ type: 'text', text: 'yes' }],
        saidAt: null,
        inSession: true,
      }),
  }
  test.each(Object.entries(differences))('is not after %s', async (_, change) => {
    const chat = await openChat()
    await chat.say('one')
    await change(chat)
    const run = await chat.say('two')
    expect(run).toMatchObject({ outcome: 'completed' })
    expect(starts()).toHaveLength(2)
    expect(await startOf(run.id)).not.toHaveProperty('kept')
    expect(stage.processes.all().filter(({ alive }) => alive)).toHaveLength(1)
  })

  test.each([
    { model: 'other' },
    { permissions: 'ask' as const },
    { forceFreshSession: true },
    { maxTurns: 3 },
  ])('is not if it asks for something else: %o', async (request) => {
    const chat = await openChat()
    await chat.say('one')
    const run = await chat.say('two', request)
    expect(run).toMatchObject({ outcome: 'completed' })
    expect(await startOf(run.id)).not.toHaveProperty('kept')
    expect(starts()).toHaveLength(2)
  })

  test('uses a new process if the kept one was killed, also if nobody noticed', async () => {
    const chat = await openChat()
    await chat.say('one')
    last()?.kill()
    expect(await chat.say('two')).toMatchObject({ outcome: 'completed', attemptCount: 1 })
    last()?.exit(0)
    expect(await chat.say('three')).toMatchObject({ outcome: 'completed', attemptCount: 1 })
    expect(starts().map(({ resume }) => resume)).toEqual([false, true, true])
  })

  test('is asked again in a new process if the kept one ends instead of taking it', async () => {
    const chat = await openChat()
    stage.processes.scripts.unshift(async (agent) => {
      await agent.takePrompt()
      agent.callModel()
      agent.finish('first')
      await agent.next()
      return 1
    })
    await chat.say('one')
    const run = await chat.say('two')
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 2 })
    expect(starts().map(({ resume }) => resume)).toEqual([false, true])
    expect(await chat.texts()).toContain('memory: to two')
  })

  test('resumes the session if the process is killed while its holders are looked for', async () => {
    const chat = await openChat()
    await chat.say('one')
    // A process that is ending has lost the mark that says whose it is. The next moment it is gone.
    vi.spyOn(stage.transcripts, 'holders').mockReturnValueOnce([{ pid: 1, startTicks: 1 }])
    const run = await chat.say('two')
    expect(await startOf(run.id)).toMatchObject({ resumed: true, carry: 'none' })
    expect(sessionId()).toBe(starts()[0]?.agentSessionId)
  })

  test('of a process with something in the background starts another one', async () => {
    const chat = await openChat()
    stage.processes.scripts.unshift(async (agent) => {
      await agent.begin()
      agent.print({ type: 'background', tasks: 0, others: 1 })
      agent.finish('started a server')
      return agent.leave()
    })
    await chat.say('one')
    expect(stage.engine.listKept()).toEqual([])
    await chat.say('two')
    expect(starts()).toHaveLength(2)
  })

  test('of a session with its own schedule starts another process', async () => {
    const chat = await openChat()
    stage.transcripts.quiet = false
    await chat.say('one')
    expect(stage.engine.listKept()).toEqual([])
  })
})

describe('a kept process is given up', () => {
  const isGivenUp = () => stage.until(() => stage.engine.listKept().length === 0)

  test('when it was kept long enough', async () => {
    const chat = await openChat()
    await chat.say('one')
    stage.clock.advance(5 * 60_000)
    await isGivenUp()
    expect(last()?.alive).toBe(false)
  })

  test('when the machine is short of memory', async () => {
    const chat = await openChat()
    await chat.say('one')
    stage.processes.memory = { ...stage.processes.memory, availableBytes: 10 }
    await isGivenUp()
    expect(await stage.engine.warmConversation(chat.id, {})).toMatchObject({ warm: false })
  })

  test('when somebody else opens its session', async () => {
    const chat = await openChat()
    await chat.say('one')
    stage.transcripts.hold(sessionId(), 1)
    await isGivenUp()
  })

  test('when it begins to work by itself', async () => {
    const chat = await openChat()
    let wake = () => {}
    stage.processes.scripts.unshift(async (agent) => {
      await agent.begin()
      agent.finish('first')
      await new Promise<void>((resolve) => (wake = resolve))
      agent.print({ type: 'session-start', agentSessionId: agent.start.agentSessionId })
      return agent.leave()
    })
    await chat.say('one')
    wake()
    await isGivenUp()
  })

  test('when there are too many, the least recently used first', async () => {
    const chat = await openChat({ maxKept: 1 })
    await chat.say('one')
    const other = await MemoryChat.create(stage)
    await other.say('one')
    await stage.until(() => stage.engine.listKept().length === 1)
    expect(stage.engine.listKept()).toMatchObject([{ conversationId: other.id }])
  })

  test('again if that failed, so that its session is not held for ever', async () => {
    const chat = await openChat()
    await chat.say('one')
    const failing = vi.spyOn(stage.store, 'endKept').mockRejectedValueOnce(new Error('disk I/O error'))
    const run = await chat.say('two', { model: 'other' })
    expect(failing).toHaveBeenCalledTimes(2)
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1 })
    expect(await startOf(run.id)).toMatchObject({ resumed: true })
  })

  test('before its session is deleted, and before its conversation is', async () => {
    const chat = await openChat()
    const { sessionId: id } = await chat.say('one')
    await stage.engine.deleteSession(id ?? '')
    expect(stage.processes.all().filter(({ alive }) => alive)).toHaveLength(0)
    const other = await MemoryChat.create(stage)
    await other.say('one')
    await stage.engine.deleteConversation(other.id)
    expect(stage.processes.all().filter(({ alive }) => alive)).toHaveLength(0)
  })
})

describe('a process that is started ahead', () => {
  test('has the next turn, and is started once', async () => {
    const chat = await openChat()
    await chat.say('one')
    last()?.kill()
    await stage.until(() => stage.engine.listKept().length === 0)
    const asked = await Promise.all([1, 2, 3].map(() => stage.engine.warmConversation(chat.id, {})))
    expect(asked).toEqual([{ warm: true }, { warm: true }, { warm: true }])
    expect(await stage.engine.warmConversation(chat.id, {})).toEqual({ warm: true })
    expect(stage.engine.listKept()).toMatchObject([{ conversationId: chat.id, preStarted: true }])
    const run = await chat.say('two')
    expect(await startOf(run.id)).toMatchObject({ resumed: true, kept: true })
    expect(starts().map(({ resume }) => resume)).toEqual([false, true])
    expect(await chat.texts()).toContain('memory: to two')
  })

  test('is not started for a turn that would start a new session', async () => {
    const chat = await openChat()
    expect(await stage.engine.warmConversation(chat.id, {})).toMatchObject({ warm: false })
    expect(starts()).toEqual([])
  })
})
