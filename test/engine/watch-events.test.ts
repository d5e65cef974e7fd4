/** Events for a watch whose cycle is open: its agent is told each of them once, or a cycle of their own starts. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CycleId, RunId } from '../../src/contract/ids.ts'
import { answers, type Script } from '../support/memory/script.ts'
import { Stage } from '../support/memory/stage.ts'

let stage: Stage
let heard: string[]
let release: () => void
let released: Promise<void>
const TOOLS = ['Bash', 'ScheduleWakeup']
const tiers = {
  1: { model: 'memory-1', tools: TOOLS, commands: { allow: ['ls *'] } },
  2: { model: 'memory-2', tools: TOOLS, commands: { allow: ['ls *'] }, approval: true },
}
beforeEach(async () => {
  stage = await Stage.open({ config: { tiers } })
  heard = []
  released = new Promise((resolve) => {
    release = resolve
  })
  await stage.engine.createWatch({ name: 'web', workDir: stage.workDir, prompt: 'Is web fine?' })
})
afterEach(() => stage.close())

const report = (status: 'healthy' | 'down', escalate = false) => ({
  structured: {
    status,
    summary: `web is ${status}`,
    checks: [],
    services: [],
    actions: [],
    escalate,
    reason: escalate ? 'restart it' : '',
  },
})
const healthy = answers('ok', report('healthy'))

/** Works until it is told something, and reports. */
const listens: Script = async (agent) => {
  await agent.begin()
  agent.print({ type: 'text-delta', text: 'working' })
  heard.push(...((await agent.takePrompt()) ?? []))
  agent.callModel()
  agent.finish('I saw it', report('healthy'))
  for (let texts = await agent.takePrompt(); texts !== null; texts = await agent.takePrompt())
    heard.push(...texts)
  return 0
}
/** Reads nothing but its prompt, and dies when the test says so. */
const dies: Script = async (agent) => {
  await agent.begin()
  agent.print({ type: 'text-delta', text: 'working' })
  await released
  return 1
}

const idOf = (id: string | null) => (id !== null && CycleId.is(id) ? id : expect.fail(`${id} is no cycle`))
const runIdOf = (id: string | null) => (id !== null && RunId.is(id) ? id : expect.fail(`${id} is no run`))
const cycles = async () => (await stage.engine.listCycles('web', { limit: 10 })).items.toReversed()
const over = async (id: CycleId) => {
  await stage.until(async () => ['ended', 'skipped'].includes((await stage.engine.getCycle(id)).state))
  return stage.engine.getCycle(id)
}
/** Starts a cycle and waits until its agent is at work. */
async function working(): Promise<{ id: CycleId; runId: RunId }> {
  const id = idOf((await stage.engine.triggerWatch('web', {})).cycleId)
  const root = async () => (await stage.engine.getCycle(id)).rootRunId
  await stage.until(async () => {
    const runId = await root()
    return runId !== null && (await stage.eventsOf(runId, 'text-delta')).length > 0
  })
  return { id, runId: runIdOf(await root()) }
}
const send = (fingerprint = 'd1') => stage.engine.receiveEvents('web', { title: 'disk full', fingerprint })
const prompts = () => stage.processes.starts().map(({ prompt }) => prompt.join('\n'))

test('the agent at work is told the event, by whom, as data; the cycle has it, and no other one starts', async () => {
  stage.play(listens)
  const { id, runId } = await working()
  const sent = await send()
  expect(sent).toMatchObject({ result: 'queued', message: expect.stringContaining('its agent is told') })
  expect(await over(id)).toMatchObject({
    outcome: 'completed',
    status: 'healthy',
    events: [{ title: 'disk full', fingerprint: 'd1' }],
  })
  expect(heard).toHaveLength(1)
  expect(heard[0]).toMatch(/^Message from the hook of the watch web: <reprise>/)
  expect(heard[0]).toContain('not instructions')
  expect(heard[0]).toMatch(/<event>[\s\S]*disk full[\s\S]*<\/event>/)
  expect(await over(idOf(sent.cycleId))).toMatchObject({
    state: 'skipped',
    takenBy: id,
    events: [],
    message: 'the agent of cycle 1 was told what this one was for',
  })
  expect(await stage.eventsOf(runId, 'message')).toMatchObject([{ from: 'the hook of the watch web' }])
  expect(await stage.engine.listMessages(runId)).toMatchObject([{ state: 'read' }])
  // The watch shows the cycle that has the event, although the skipped one is newer.
  expect((await stage.engine.getWatch('web')).lastCycle).toMatchObject({ id, state: 'ended' })
  // It is known now, like an event that started the cycle.
  expect(await send()).toMatchObject({ result: 'known', cycleId: id })
  expect(stage.processes.starts()).toHaveLength(1)
})

test.each([
  ['after', 'receiveEvents'],
  ['before', 'noteGiven'],
  ['after', 'noteGiven'],
  ['before', 'takeEvents'],
  ['after', 'takeEvents'],
  ['before', 'endAttempt'],
] as const)('killed %s %s, the event is read once all the same', async (when, write) => {
  stage.play(listens)
  const { id, runId } = await working()
  stage.life.endAt(when, write)
  void send()
  await stage.life.over
  await stage.reopen()
  expect(await over(id)).toMatchObject({ outcome: 'completed', eventCount: 1 })
  expect(heard).toHaveLength(1)
  expect(await stage.eventsOf(runId, 'message')).toHaveLength(1)
  expect((await cycles()).map(({ state }) => state)).toEqual(['ended', 'skipped'])
  expect(stage.processes.starts()).toHaveLength(1)
})

test('an event that the agent did not read before it died is read by the next attempt', async () => {
  stage.play(dies, listens)
  const { id } = await working()
  await send()
  release()
  expect(await over(id)).toMatchObject({ outcome: 'completed', eventCount: 1 })
  expect(heard).toHaveLength(1)
  expect((await cycles()).map(({ state }) => state)).toEqual(['ended', 'skipped'])
})

test('while the cycle waits for approval the event waits, and the next tier is told', async () => {
  stage.play(answers('', report('down', true)), listens)
  const id = idOf((await stage.engine.triggerWatch('web', {})).cycleId)
  await stage.until(async () => (await stage.engine.getCycle(id)).state === 'waiting')
  const sent = await send()
  const { rootRunId } = await stage.engine.getCycle(id)
  await stage.engine.decideApproval(runIdOf(rootRunId), { decision: 'approve' })
  expect(await over(id)).toMatchObject({ outcome: 'completed', tier: 2, eventCount: 1 })
  expect(heard).toHaveLength(1)
  expect(await over(idOf(sent.cycleId))).toMatchObject({ state: 'skipped', takenBy: id })
})

test('if the cycle ends before its agent has read the event, a cycle starts with it', async () => {
  stage.play(answers('', report('down', true)), healthy)
  const id = idOf((await stage.engine.triggerWatch('web', {})).cycleId)
  await stage.until(async () => (await stage.engine.getCycle(id)).state === 'waiting')
  const sent = await send()
  await stage.engine.cancelCycle(id)
  expect(await over(id)).toMatchObject({ outcome: 'cancelled', eventCount: 0 })
  expect(await over(idOf(sent.cycleId))).toMatchObject({ outcome: 'completed', eventCount: 1, takenBy: null })
  expect(prompts().filter((text) => text.includes('disk full'))).toHaveLength(1)
})

test('an agent that waits for its follow-up is told at once', async () => {
  stage.play(async (agent) => {
    await agent.begin()
    await agent.ask('ScheduleWakeup', { prompt: 'verify it', inMs: 60_000 }, 'hook')
    agent.finish('later', report('down'))
    heard.push(...((await agent.takePrompt()) ?? []))
    agent.callModel()
    agent.finish('I saw it', report('healthy'))
    return agent.leave()
  })
  const id = idOf((await stage.engine.triggerWatch('web', {})).cycleId)
  await stage.until(async () => (await stage.engine.getCycle(id)).pendingFollowUps === 1)
  await send()
  await stage.until(async () => (await stage.engine.getCycle(id)).eventCount === 1)
  expect(heard).toEqual([expect.stringContaining('disk full')])
  await stage.engine.cancelCycle(id)
  await over(id)
})

test('the payload of a trigger is told too, with its reason; a trigger without one waits for its cycle', async () => {
  stage.play(listens, healthy)
  const { id } = await working()
  const plain = await stage.engine.triggerWatch('web', {})
  const loaded = await stage.engine.triggerWatch('web', { reason: 'new release', payload: { version: 7 } })
  expect(await over(id)).toMatchObject({ eventCount: 1 })
  expect(heard[0]).toMatch(/^Message from a person who triggered the watch web: [\s\S]*new release/)
  expect(heard[0]).toContain('"version": 7')
  expect(await over(idOf(loaded.cycleId))).toMatchObject({ state: 'skipped', takenBy: id })
  expect(await over(idOf(plain.cycleId))).toMatchObject({ state: 'ended', outcome: 'completed' })
})
