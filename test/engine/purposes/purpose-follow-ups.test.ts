/** Follow-ups that an agent or a person plans: given once, in the process or by a new run, and cancelled with their turn. */
import { afterEach, describe, expect, test } from 'vitest'
import { CreateFollowUp } from '../../../src/contract/follow-up.ts'
import { RunId } from '../../../src/contract/ids.ts'
import { MemoryChat } from '../../support/memory/chat.ts'
import { answers, type Script } from '../../support/memory/script.ts'
import { Stage, type StageOptions } from '../../support/memory/stage.ts'

let stage: Stage
const open = async (options?: StageOptions) => {
  stage = await Stage.open(options)
}
afterEach(() => stage.close())

const NO_HOLD = { followUps: { hold: '0ms' } }
const TIERS = {
  tiers: {
    1: { model: 'memory-1', tools: ['Bash'], commands: { allow: ['ls *'] } },
    2: { model: 'memory-2', tools: ['Bash', 'ScheduleWakeup'], commands: { allow: ['ls *'] } },
  },
}
const REPORT = { summary: 'web', checks: [], services: [], actions: [], escalate: false, reason: 'restarted' }
const CALM = { ...REPORT, status: 'degraded' }
const FIXED = { ...REPORT, status: 'fixed' }

/** Plans a prompt for later and ends its turn. */
const plans =
  (inMs: number, structured?: unknown): Script =>
  async (agent) => {
    await agent.begin()
    await agent.ask('ScheduleWakeup', { prompt: 'verify it', inMs }, 'hook')
    agent.finish('planned', { structured })
    return agent.leave()
  }

/** Plans a prompt for later, waits for it in its process, and answers it. */
const plansAndWaits =
  (inMs: number, structured?: unknown): Script =>
  async (agent) => {
    await agent.begin()
    await agent.ask('ScheduleWakeup', { prompt: 'verify it', inMs }, 'hook')
    agent.finish('planned', { structured: structured && CALM })
    if ((await agent.takePrompt()) === null) return 0
    agent.callModel()
    agent.finish('verified', { structured })
    return agent.leave()
  }

const followUps = async () => (await stage.engine.listFollowUps({ limit: 10 })).items
const runs = async () => (await stage.engine.listRuns({ limit: 10 })).items
const given = () =>
  stage.processes.all().flatMap((process) => process.given.filter((line) => line.includes('verify it')))

/** Time passes, and another engine looks at what is due. */
async function pass(ms: number): Promise<void> {
  await stage.engine.close()
  stage.clock.advance(ms)
  await stage.reopen()
}
const allSettled = (count: number) =>
  stage.until(async () => {
    const all = await runs()
    return all.length === count && all.every(({ state }) => state === 'settled')
  })
const isKept = (id: string) =>
  stage.until(async () => (await stage.notes(id)).some((note) => note.includes('the process is kept')))

describe('a follow-up', () => {
  test('is given to the session by a new run, at the same tier, when its run has ended', async () => {
    await open({ config: { ...TIERS, ...NO_HOLD } })
    stage.play(plans(60_000, CALM), answers('', { structured: FIXED }))
    const first = await stage.run({ tier: 2, prompt: 'restart web' })
    await pass(61_000)
    await stage.until(async () => (await stage.engine.getChain(first.id)).state === 'ended')
    const chain = await stage.engine.getChain(first.id)
    expect(chain.runs.map((run) => [run.tier, run.outcome, run.resumed, run.escalation?.reason])).toEqual([
      [2, 'completed', false, 'not-recommended'],
      [2, 'completed', true, 'not-recommended'],
    ])
    expect(new Set(chain.runs.map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(given()).toHaveLength(1)
    expect((await stage.engine.getRun(first.id)).followUps).toMatchObject([
      { state: 'fired', createdBy: 'agent', firedCount: 1, firedRunId: chain.runs[1]?.id },
    ])
  })

  test('that is due soon is waited for in the process', async () => {
    await open({ config: TIERS })
    stage.play(plansAndWaits(60_000, FIXED))
    const id = await stage.admit({ tier: 2, prompt: 'restart web' })
    await isKept(id)
    expect(given()).toEqual([])
    stage.clock.advance(61_000)
    const run = await stage.settled(id)
    expect(run).toMatchObject({ outcome: 'completed', attemptCount: 1, resultText: 'verified' })
    expect(run.followUps).toMatchObject([{ state: 'fired', firedCount: 1, firedRunId: id }])
    expect(run.escalation?.recommendation.signal?.status).toBe('fixed')
    expect(await stage.engine.getChain(id)).toMatchObject({ state: 'ended' })
    expect(given()).toHaveLength(1)
    expect(stage.processes.all().filter(({ alive }) => alive)).toEqual([])
  })

  test('of a run without a tier is a run of its own, which names it', async () => {
    await open({ config: NO_HOLD })
    stage.play(plans(60_000), answers('verified'))
    const run = await stage.run({ prompt: 'remind me' })
    await pass(61_000)
    await allSettled(2)
    expect((await runs()).map(({ outcome, sessionId }) => [outcome, sessionId])).toEqual([
      ['completed', run.sessionId],
      ['completed', run.sessionId],
    ])
    expect((await runs())[0]?.followUpId).toBe((await followUps())[0]?.id)
    expect(given()).toHaveLength(1)
  })

  test('is cancelled with its run', async () => {
    await open()
    stage.play(plansAndWaits(60_000))
    const id = await stage.admit({ prompt: 'remind me' })
    await isKept(id)
    await stage.engine.cancel(id)
    expect(await stage.settled(id)).toMatchObject({
      outcome: 'cancelled',
      followUps: [{ state: 'cancelled', cancelledBy: 'person' }],
    })
    expect(given()).toEqual([])
  })
})

describe('a follow-up of a conversation', () => {
  test('is a turn of it', async () => {
    await open({ config: NO_HOLD })
    const chat = await MemoryChat.create(stage)
    stage.play(plans(60_000), answers('verified'))
    await chat.say('remind me')
    await pass(61_000)
    await allSettled(2)
    expect(await chat.texts()).toEqual([
      'user: remind me',
      'memory: planned',
      expect.stringContaining('verify it'),
      'memory: verified',
    ])
    expect(await chat.say('and on')).toMatchObject({ outcome: 'completed', resumed: true })
  })

  test('does not keep its turn waiting, however soon it is due', async () => {
    await open()
    const chat = await MemoryChat.create(stage)
    stage.play(plans(60_000), answers('verified'))
    const run = await chat.say('remind me')
    expect(stage.processes.all().filter(({ alive }) => alive)).toEqual([])
    await pass(61_000)
    await allSettled(2)
    const [fired] = await followUps()
    expect(fired).toMatchObject({ state: 'fired', firedCount: 1, runId: run.id })
    expect(fired?.firedRunId).not.toBe(run.id)
    expect(Date.parse(fired?.firedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(run.endedAt ?? ''))
    expect(await chat.texts()).toHaveLength(4)
  })

  test('is cancelled with its turn: removed, asked again, or with the conversation', async () => {
    await open()
    const chat = await MemoryChat.create(stage)
    const states = async () => (await followUps()).map(({ state }) => state).reverse()
    stage.play(plans(60_000), plans(60_000), plans(60_000))
    await chat.say('remind me')
    await chat.say('remind me')
    expect(await states()).toEqual(['planned', 'planned'])
    await chat.edit(2, 'say nothing')
    expect(await states()).toEqual(['planned', 'planned'])
    await chat.drop(3)
    expect(await states()).toEqual(['planned', 'cancelled'])
    await chat.retry(0)
    expect(await states()).toEqual(['cancelled', 'cancelled', 'planned'])
    await stage.engine.deleteConversation(chat.id)
    expect(await states()).toEqual(['cancelled', 'cancelled', 'cancelled'])
  })
})

describe('a follow-up of a person', () => {
  test('is given too', async () => {
    await open({ config: NO_HOLD })
    const run = await stage.run({ prompt: 'hello' })
    if (!RunId.is(run.id)) throw new Error(run.id)
    await stage.engine.createFollowUp({ runId: run.id, prompt: 'verify it', inMs: 60_000 })
    await pass(61_000)
    await allSettled(2)
    expect(await followUps()).toMatchObject([{ state: 'fired', createdBy: 'person', runId: run.id }])
    expect(given()).toHaveLength(1)
  })

  test.each([
    [{ at: '2020-01-01T00:00:00Z' }, /past/],
    [{ at: '2099-01-01T00:00:00Z' }, /too far ahead/],
    [{ cron: 'every day' }, /fields instead of five/],
    [{ cron: '* * * * * *' }, /seconds are not supported/],
    [{}, /one of at, inMs and cron/],
    [{ runId: undefined, inMs: 2000 }, /either runId or sessionId/],
    [{ inMs: -5 }, /inMs/],
  ])('is refused with the reason: %j', async (when, says) => {
    await open()
    const { id } = await stage.run({ prompt: 'hello' })
    const plan = async () =>
      stage.engine.createFollowUp(CreateFollowUp.parse({ prompt: 'and now?', runId: id, ...when }))
    await expect(plan()).rejects.toThrow(says)
    expect(await followUps()).toEqual([])
  })
})
