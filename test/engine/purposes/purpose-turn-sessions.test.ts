/**
 * Which session a turn of a conversation uses, and what it is given there: the new text only, or the whole history in a new
 * session; with one agent and with several, and after an agent has cleared its memory.
 */
import { mkdirSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CreateConversation } from '../../../src/contract/conversation.ts'
import { MemoryChat } from '../../support/memory/chat.ts'
import { answers, exits, type Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
let chat: MemoryChat
beforeEach(async () => {
  stage = await Stage.open()
  chat = await MemoryChat.create(stage)
})
afterEach(() => stage.close())

type Run = Awaited<ReturnType<MemoryChat['say']>>
const last = () => stage.processes.starts().at(-1)
const lastPrompt = () => last()?.prompt.join('\n') ?? ''
const PAST = 'remember heliotrope'

function expectResumed(run: Run): void {
  expect(run).toMatchObject({ outcome: 'completed', resumed: true, freshReason: null, carry: 'none' })
  expect(last()).toMatchObject({ resume: true, agentSessionId: run.sessionId })
  expect(lastPrompt()).not.toContain(PAST)
}

function expectFresh(run: Run, reason: string): void {
  expect(run).toMatchObject({
    outcome: 'completed',
    resumed: false,
    freshReason: reason,
    carry: 'transcript',
  })
  expect(last()).toMatchObject({ resume: false, agentSessionId: run.sessionId })
  expect(lastPrompt()).toContain(PAST)
  expect(lastPrompt()).toContain('Noted: heliotrope')
}

/** A conversation with one answered question. */
async function begin(request: Partial<CreateConversation> = {}): Promise<void> {
  chat = await MemoryChat.create(stage, request)
  stage.play(answers('Noted: heliotrope'))
  await chat.say(PAST)
}

describe('a turn of one agent', () => {
  test('in a new session on request; the next one resumes it', async () => {
    await begin()
    expectFresh(await chat.say('again', { forceFreshSession: true }), 'forced')
    expectResumed(await chat.say('and on'))
  })

  test('after an edit has a new session with the edited history; an edit that changes nothing is none', async () => {
    await begin()
    const before = await stage.engine.getConversation(chat.id)
    await chat.edit(0, PAST)
    expect(await stage.engine.getConversation(chat.id)).toEqual(before)
    await chat.edit(0, 'remember obsidian')
    const run = await chat.say('which word?')
    expect(run).toMatchObject({ resumed: false, freshReason: 'history-changed', carry: 'transcript' })
    expect(lastPrompt()).toContain('remember obsidian')
    expect(lastPrompt()).not.toContain(PAST)
    expect(await chat.say('and on')).toMatchObject({ resumed: true, sessionId: run.sessionId })
  })

  test('after a truncation is not given what was removed', async () => {
    await begin()
    await chat.say('remember obsidian')
    await chat.drop(2)
    expect(await chat.texts()).toHaveLength(2)
    expectFresh(await chat.say('which words?'), 'history-changed')
    expect(lastPrompt()).not.toContain('obsidian')
  })

  test('that is asked again replaces its answer, in a session without the first answer', async () => {
    await begin()
    await chat.say('remember obsidian', { model: 'memory-2', permissions: 'ask', maxDurationMs: 60_000 })
    await chat.say('a third')
    const again = await chat.retry(2)
    expect(again).toMatchObject({ agent: 'memory', model: 'memory-2', permissions: 'ask' })
    expectFresh(again, 'history-changed')
    expect(lastPrompt().match(/obsidian/g)).toHaveLength(1)
    expect(lastPrompt()).not.toContain('a third')
    expect((await chat.texts()).map((text) => text.split(':')[0])).toEqual([
      'user',
      'memory',
      'user',
      'memory',
    ])
  })

  test('resumes in the same directory by another name, and starts fresh in another one', async () => {
    const link = join(stage.workDir, '..', 'link')
    const pointTo = (target: string) => {
      unlinkSync(link)
      symlinkSync(target, link)
    }
    symlinkSync(stage.workDir, link)
    await begin({ workDir: link })
    pointTo(join(stage.workDir, '..', 'work'))
    expectResumed(await chat.say('by another name'))
    mkdirSync(join(stage.workDir, 'elsewhere'))
    pointTo(join(stage.workDir, 'elsewhere'))
    expectFresh(await chat.say('elsewhere'), 'other-work-dir')
  })

  test('of an agent that cannot resume is given the whole history each time', async () => {
    await stage.engine.close()
    await stage.reopen({ capabilities: { resume: false } })
    await begin()
    expectFresh(await chat.say('two'), 'no-resume-capability')
    expectFresh(await chat.say('three'), 'no-resume-capability')
    expect(lastPrompt()).toContain('two')
    expect(stage.processes.starts().map(({ resume }) => resume)).toEqual([false, false, false])
  })

  test.each([
    ['refuses to resume', exits(1, 'no such session')],
    ['crashes when it is to resume', exits(139)],
  ])('of an agent that %s is asked once more, with the history; the next one resumes', async (_, script) => {
    await begin()
    stage.play(script)
    const run = await chat.say('later')
    expectFresh(run, 'refused')
    expect(run.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
      [true, 'session-missing'],
      [false, 'completed'],
    ])
    expectResumed(await chat.say('and on'))
  })

  test('of an agent that hangs before its first event when it is to resume: ended, then fresh', async () => {
    await begin()
    const silent: Script = () => new Promise(() => {})
    stage.play(silent)
    const { id } = await chat.post('later', { maxDurationMs: 60_000 })
    await stage.until(() => stage.processes.starts().length === 2)
    stage.clock.advance(61_000)
    const run = await stage.settled(id)
    expectFresh(run, 'refused')
    expect(run.attempts.map((a) => a.outcome?.name)).toEqual(['session-missing', 'completed'])
  })
})

describe('several agents', () => {
  const epochs = async () =>
    Object.fromEntries(
      (await stage.engine.getConversation(chat.id)).agents.map(({ agent, epoch }) => [agent, epoch]),
    )
  const start = async (historyScope: CreateConversation['historyScope']) => {
    chat = await MemoryChat.create(stage, { agent: 'memory', ...(historyScope ? { historyScope } : {}) })
  }
  const other = { agent: 'other' }

  test('agent scope: an agent is given what came after the latest answer of another', async () => {
    await start('agent')
    await chat.say('for memory: alpha')
    await chat.say('for other: beta', other)
    expect(lastPrompt()).toBe('for other: beta')
    expect(await chat.say('for memory again: gamma')).toMatchObject({ resumed: true })
    expect(lastPrompt()).not.toContain('beta')
    expect(await chat.say('delta', { forceFreshSession: true })).toMatchObject({
      resumed: false,
      carry: 'transcript',
    })
    expect(lastPrompt()).toContain('gamma')
    expect(lastPrompt()).not.toMatch(/alpha|beta/)
  })

  test('agent scope: a change outside what an agent was given leaves its session alone', async () => {
    await start('agent')
    await chat.say('for other: alpha', other)
    await chat.say('for memory: beta')
    await chat.edit(1, 'another answer of the other agent')
    expect(await epochs()).toEqual({ memory: 0, other: 1 })
    expect(await chat.say('gamma')).toMatchObject({ resumed: true })
  })

  test('agent scope: retrying the boundary that another agent set makes the session stale', async () => {
    await start('agent')
    await chat.say('for other: alpha', other)
    await chat.say('for memory: beta')
    await chat.retry(1, other)
    expect((await epochs()).memory).toBe(1)
    expect(await chat.say('for memory: gamma')).toMatchObject({
      resumed: false,
      freshReason: 'history-changed',
    })
    expect(lastPrompt()).not.toContain('beta')
  })

  test('shared: a change to messages that an agent has not seen yet leaves its session alone', async () => {
    await start('shared')
    await chat.say('for memory: alpha')
    await chat.say('for other: beta', other)
    await chat.edit(2, 'for other: beta, edited')
    expect(await epochs()).toEqual({ memory: 0, other: 1 })
    expect(await chat.say('for memory: gamma')).toMatchObject({ resumed: true })
    expect(lastPrompt()).toContain('beta, edited')
  })
})

describe('a memory that the agent has cleared', () => {
  const clears: Script = async (agent) => {
    await agent.begin()
    agent.print({ type: 'memory-clear' })
    agent.finish('')
    return agent.leave()
  }
  const clear = async () => {
    await begin({ agent: 'memory' })
    stage.play(clears)
    await chat.say('/clear')
  }
  const agents = async () => (await stage.engine.getConversation(chat.id)).agents

  test('stays empty in a new session, and turns from before do not make that stale', async () => {
    await clear()
    await chat.say('and what now?')
    await chat.say('and fresh?', { forceFreshSession: true })
    expect(lastPrompt()).not.toContain('heliotrope')
    expect(lastPrompt()).toContain('and what now?')
    await chat.edit(0, 'remember haddock')
    expect(await chat.say('still there?')).toMatchObject({ resumed: true })
    expect(stage.processes.given()).not.toMatch(/heliotrope|haddock/)
  })

  test('is told to the agent with the next message, and with no other', async () => {
    const told = 'Your memory of this conversation was cleared'
    await clear()
    await chat.say('and what now?')
    expect(lastPrompt()).toContain(told)
    expect(lastPrompt()).not.toContain('have been answered')
    await chat.say('and then?')
    expect(lastPrompt()).not.toContain(told)
  })

  test('is that of one agent only', async () => {
    await clear()
    await chat.say('what do you know?', { agent: 'other' })
    expect(lastPrompt()).toContain('heliotrope')
    expect(await agents()).toMatchObject([
      { agent: 'memory', clearedTurn: 2 },
      { agent: 'other', clearedTurn: null },
    ])
  })

  test('comes back if the turn that cleared it is removed', async () => {
    await clear()
    await chat.drop(2)
    expect(await agents()).toMatchObject([{ clearedTurn: null }])
    expectFresh(await chat.say('what was it?'), 'history-changed')
  })

  test('stays empty in new sessions, also without a conversation', async () => {
    stage.play(answers('noted'), clears)
    const { session } = await stage.run({ prompt: PAST })
    const inSession = { sessionId: session ?? '' }
    for (const prompt of ['/clear', 'after it']) await stage.run({ prompt, ...inSession })
    await stage.run({ prompt: 'and now fresh', forceFreshSession: true, ...inSession })
    expect(lastPrompt()).toContain('after it')
    expect(lastPrompt()).not.toContain('heliotrope')
  })
})

describe('what was said in the session by hand', () => {
  const byHand = (sessionId: string | null) =>
    stage.transcripts.addOutside(sessionId ?? '', {
      id: 'by-hand-1',
      text: 'by hand: look',
      answer: [{ type: 'text', text: 'Seen by hand.' }],
      saidAt: new Date(),
      inSession: true,
    })

  test('is a turn of the conversation, given to a new session; removed, it is not imported again', async () => {
    await begin()
    const { sessionId } = await chat.say('and granite')
    byHand(sessionId)
    expect(await chat.say('and obsidian')).toMatchObject({ resumed: true, sessionId })
    expect((await chat.texts()).slice(4, 6)).toEqual(['user: by hand: look', 'memory: Seen by hand.'])
    await chat.say('all of it', { forceFreshSession: true })
    for (const words of ['outside Reprise', 'by hand: look', 'Seen by hand.'])
      expect(lastPrompt()).toContain(words)
    await chat.drop(4)
    expectFresh(await chat.say('what is left?'), 'history-changed')
    expect(lastPrompt()).not.toContain('by hand')
    expect(await chat.texts()).toHaveLength(6)
  })

  test('is carried into a new session without a conversation too, in order', async () => {
    const { sessionId } = await stage.run({ prompt: PAST })
    byHand(sessionId)
    const next = await stage.run({
      prompt: 'and obsidian',
      sessionId: sessionId ?? '',
      forceFreshSession: true,
    })
    expect((await stage.notes(next.id)).join()).toContain('outside Reprise')
    expect(lastPrompt()).toMatch(/heliotrope[\s\S]*by hand: look[\s\S]*Seen by hand[\s\S]*and obsidian$/)
  })
})
