/** What a person is shown first, and what is said before a message is sent. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemoryChat } from '../support/memory/chat.ts'
import { HeldAgent } from '../support/memory/held.ts'
import { answers, type Script } from '../support/memory/script.ts'
import { Stage } from '../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
})
afterEach(() => stage.close())

const overview = () => stage.engine.readOverview(null)

describe('the overview', () => {
  test('a run that works is at work, with what it is for', async () => {
    const chat = await MemoryChat.create(stage, { title: 'About cats' })
    const agent = new HeldAgent('Purr')
    const id = await chat.postHeld('What do cats say?', agent)
    const { needsYou, atWork, parked } = await overview()
    expect(atWork).toMatchObject([
      { runId: id, subject: { kind: 'conversation', id: chat.id, title: 'About cats' }, attempt: 1 },
    ])
    expect([needsYou, parked]).toEqual([[], []])
    agent.release()
    await stage.settled(id)
    expect((await overview()).atWork).toEqual([])
  })

  test('a question needs a person, also while its agent runs, until it is answered', async () => {
    stage.play(async (agent) => {
      await agent.begin()
      await agent.askUser('Which colour?', 'red', 'blue')
      agent.finish('thanks')
      return agent.leave()
    })
    const { run } = await stage.engine.admit({ prompt: 'ask', workDir: stage.workDir }, null)
    await stage.until(async () => (await overview()).needsYou.length > 0)
    const { needsYou, atWork } = await overview()
    expect(atWork).toEqual([])
    expect(needsYou).toMatchObject([
      { kind: 'question', runId: run.id, question: { questions: [{ question: 'Which colour?' }] } },
    ])
    const [need] = needsYou
    if (need?.kind !== 'question') throw new Error('not a question')
    const { toolUseId } = need.question
    await stage.engine.answer(need.runId, { toolUseId, answers: { 'Which colour?': 'red' } })
    await stage.settled(need.runId)
    expect((await overview()).needsYou).toEqual([])
  })

  test('a second turn waits behind the first, as one that continues by itself', async () => {
    const chat = await MemoryChat.create(stage)
    const agent = new HeldAgent('Working')
    const first = await chat.postHeld('First', agent)
    const second = await chat.post('Second')
    expect(await overview()).toMatchObject({
      atWork: [{ runId: first }],
      parked: [{ id: second.id, kind: 'queue', until: null }],
    })
    stage.play(answers('done'))
    agent.release()
    await stage.settled(second.id)
  })

  test('an active watch is parked until it fires; those at work are in the order in which they began', async () => {
    const watch = { workDir: stage.workDir, prompt: 'Look around.\nWell.' }
    await stage.engine.createWatch({ name: 'web', everyMs: 600_000, ...watch })
    await stage.engine.createWatch({ name: 'later', everyMs: 600_000, paused: true, ...watch })
    await stage.engine.createWatch({ name: 'asked', ...watch })
    const { parked, simulated } = await overview()
    const next = (await stage.engine.getWatch('web')).nextAt
    expect(parked).toMatchObject([
      { kind: 'schedule', subject: { kind: 'watch', id: 'web' }, message: 'Look around.', until: next },
    ])
    expect(simulated).toEqual([])
    const agents = [new HeldAgent('One'), new HeldAgent('Two')]
    const ids: string[] = []
    for (const agent of agents) {
      const chat = await MemoryChat.create(stage)
      ids.push(await chat.postHeld('Go', agent))
      stage.clock.advance(1000)
    }
    expect((await overview()).atWork.map(({ runId }) => runId)).toEqual(ids)
    for (const agent of agents) agent.release()
    for (const id of ids) await stage.settled(id)
  })

  test('a follow-up that is planned for a session leads to it', async () => {
    stage.play(answers('fine'))
    const { session } = await stage.run({ prompt: 'first' })
    const wish = { prompt: 'Look again.\nWell.', sessionId: session ?? '', inMs: 3_600_000 }
    const { id } = await stage.engine.createFollowUp(wish)
    expect((await overview()).parked).toMatchObject([
      { kind: 'follow-up', id, subject: { kind: 'session', id: session, title: 'Look again.' } },
    ])
  })

  test('what failed and what it cost since a time', async () => {
    const failing: Script = async (agent) => {
      await agent.begin()
      agent.finish('', { outcome: { name: 'api-error', message: 'image too large', apiStatus: 400 } })
      return agent.leave()
    }
    stage.play(answers('fine'))
    await stage.run({ prompt: 'good' })
    stage.play(failing)
    const bad = await stage.run({ prompt: 'bad\nsecond line' })
    const { failures, costs } = await overview()
    expect(failures).toMatchObject([
      { runId: bad.id, outcome: bad.outcome, subject: { kind: 'run', title: 'bad' } },
    ])
    const sum = (of: (row: (typeof costs)[number]) => number) =>
      costs.reduce((total, row) => total + of(row), 0)
    expect([sum((row) => row.runs), sum((row) => row.failed), sum((row) => row.cancelled)]).toEqual([2, 1, 0])
    const later = await stage.engine.readOverview(new Date(stage.clock.now().getTime() + 1000))
    expect([later.failures, later.costs]).toEqual([[], []])
  })
})

describe('the plan of a turn', () => {
  const plan = (chat: MemoryChat, request: { agent?: string; forceFreshSession?: boolean } = {}) =>
    stage.engine.planTurn(chat.id, { forceFreshSession: false, ...request })

  test('is what then happens: new, resumed, forced fresh, changed history, another agent', async () => {
    const chat = await MemoryChat.create(stage)
    expect(await plan(chat)).toMatchObject({
      kind: 'fresh',
      freshReason: 'first-run',
      message: 'Starts a new session.',
    })
    stage.play(answers('one'))
    const first = await chat.say('First')
    const resumes = await plan(chat)
    expect(resumes).toMatchObject({ kind: 'resume', sessionId: first.sessionId, turns: 0 })
    stage.play(answers('two'))
    expect((await chat.say('Second')).resumed).toBe(true)

    expect(await plan(chat, { forceFreshSession: true })).toMatchObject({
      kind: 'fresh',
      freshReason: 'forced',
      turns: 2,
      message: 'Starts fresh with 2 earlier turns: you asked for it.',
    })
    expect(await plan(chat, { agent: 'other' })).toMatchObject({ kind: 'fresh', freshReason: 'other-agent' })
    await chat.edit(0, 'First, edited')
    const changed = await plan(chat)
    expect(changed).toMatchObject({ kind: 'fresh', freshReason: 'history-changed' })
    stage.play(answers('three'))
    expect((await chat.say('Third')).freshReason).toBe(changed.freshReason)
  })

  test('changes nothing', async () => {
    const chat = await MemoryChat.create(stage)
    stage.play(answers('one'))
    await chat.say('First')
    const before = await stage.store.listChanges({ after: 0, limit: 1000 })
    await plan(chat)
    await plan(chat, { forceFreshSession: true })
    expect((await stage.store.listChanges({ after: 0, limit: 1000 })).newest).toBe(before.newest)
  })
})
