/**
 * An agent or a tier is removed from the configuration while a run of it is open. The stored attempt is enough to read
 * its output, answer it and supervise it to its end. Only steps that would have to start the agent again fail.
 */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type RunId, SessionId } from '../../../src/contract/ids.ts'
import type { Script } from '../../support/memory/script.ts'
import { Stage } from '../../support/memory/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await Stage.open()
})
afterEach(() => stage.close())

let finish: () => void
const thinks: Script = async (agent) => {
  await agent.begin()
  agent.print({ type: 'text-end', text: 'Thinking.' })
  await new Promise<void>((resolve) => (finish = resolve))
  agent.finish(' Done.')
  return agent.leave()
}

const hasSaid = (id: RunId | string) =>
  stage.until(async () => (await stage.eventsOf(id, 'text-end')).length > 0)

/** A run of the other agent, which thinks. */
async function begin(): Promise<RunId> {
  stage.play(thinks)
  const id = await stage.admit({ agent: 'other' })
  await hasSaid(id)
  return id
}

async function reopenWithout(options: { adapters?: readonly string[] } = {}): Promise<void> {
  if (!stage.life.isOver) await stage.drop()
  await stage.reopen({ agents: ['memory'], ...options })
}

const agent = () => stage.processes.all()[0]
const DONE = { outcome: 'completed', attemptCount: 1, resultText: ' Done.', agent: 'other' }
const MISSING = 'there is no agent named "other"'

test('and continues to work: it is adopted, and its run completes', async () => {
  const id = await begin()
  await reopenWithout()
  expect(agent()?.alive).toBe(true)
  finish()
  expect(await stage.settled(id)).toMatchObject(DONE)
  expect(stage.processes.starts()).toHaveLength(1)
})

test('and finishes before an engine adopts it: all its output is stored', async () => {
  const id = await begin()
  await stage.drop()
  finish()
  await stage.until(() => agent()?.out.includes('turn-end') === true)
  await reopenWithout()
  expect(await stage.settled(id)).toMatchObject(DONE)
  const events = await stage.events(id)
  expect(events.filter(({ type }) => type === 'gap' || type === 'raw-line')).toEqual([])
  expect((await stage.eventsOf(id, 'text-end')).map(({ text }) => text)).toEqual(['Thinking.', ' Done.'])
})

test('and asks: the answer reaches it', async () => {
  stage.play(async (agent) => {
    await agent.begin()
    const answer = await agent.ask('Bash', { command: 'make' })
    agent.finish(answer?.decision === 'allow' ? ' Done.' : 'refused')
    return agent.leave()
  })
  const id = await stage.admit({ agent: 'other', permissions: 'ask' })
  const [question] = await stage.pending(id)
  await reopenWithout()
  await stage.engine.answer(id, { toolUseId: question?.toolUseId ?? '', decision: 'allow' })
  expect(await stage.settled(id)).toMatchObject(DONE)
})

test('and is killed: the run says which agent is missing to continue', async () => {
  const id = await begin()
  agent()?.kill()
  await reopenWithout()
  const run = await stage.settled(id)
  expect(run).toMatchObject({ outcome: 'crashed', attemptCount: 1 })
  expect(run.message).toContain(MISSING)
  expect(run.message).toContain('config.yaml')
  expect(run.attempts[0]?.outcome?.message).toContain('was killed')
  expect(await stage.eventsOf(id, 'text-end')).toMatchObject([{ text: 'Thinking.' }])
})

test('its sessions can still be read, but not continued', async () => {
  const { session } = await stage.run({ agent: 'other' })
  await reopenWithout()
  if (!session || !SessionId.is(session)) throw new Error('no session')
  const detail = await stage.engine.getSession(session)
  expect(detail).toMatchObject({ agent: 'other', turns: 1, heldBy: null })
  expect(detail.transcript).toEqual({ state: 'unknown', path: null, bytes: null })
  await expect(stage.admit({ prompt: 'and now?', sessionId: session })).rejects.toMatchObject({
    code: 'agent-unknown',
    message: expect.stringContaining('"other"'),
  })
})

test('a conversation keeps its answer, another agent continues it, and a turn that waits is cancelled', async () => {
  const { id } = await stage.engine.createConversation({ workDir: stage.workDir, agent: 'other' })
  const say = async (text: string, agent?: string) =>
    (await stage.engine.createTurn(id, { text, ...(agent ? { agent } : {}) }, null)).run.id
  stage.play(thinks)
  const first = await say('begin the work')
  await hasSaid(first)
  const waiting = await say('and then?')
  await reopenWithout()
  finish()
  expect(await stage.settled(first)).toMatchObject(DONE)
  const cancelled = await stage.settled(waiting)
  expect(cancelled).toMatchObject({ outcome: 'cancelled', attemptCount: 0 })
  expect(cancelled.message).toMatch(
    /^not started: there is no agent named "other"\. Configured agents: memory\./,
  )
  const next = await stage.settled(await say('what was done?', 'memory'))
  expect(next).toMatchObject({ outcome: 'completed', carry: 'transcript' })
  expect(stage.processes.starts().at(-1)?.prompt.join('\n')).toMatch(/Thinking\.\s+Done\./)
})

test('an agent whose adapter is unknown is ended, and a gap says which bytes were not read', async () => {
  const id = await begin()
  await stage.drop()
  const from = agent()?.out.length ?? 0
  finish()
  await stage.until(() => agent()?.out.includes('turn-end') === true)
  const to = agent()?.out.length
  expect(agent()?.alive).toBe(true)
  await reopenWithout({ adapters: [] })
  const run = await stage.settled(id)
  expect(run).toMatchObject({ outcome: 'crashed', message: expect.stringContaining(MISSING) })
  expect(await stage.eventsOf(id, 'gap')).toMatchObject([{ from, to, reason: 'not-read' }])
  expect(agent()?.alive).toBe(false)
})

test('a tier that is removed while its agent works: the agent may report, and nothing else is allowed', async () => {
  await stage.close()
  const tiers = { 4: { model: 'memory-1', tools: ['Bash'], commands: { allow: ['ls *'] } } }
  stage = await Stage.open({ config: { tiers, maxTier: 4 } })
  const signal = {
    status: 'fixed',
    summary: 'up',
    checks: [],
    services: [],
    actions: [],
    escalate: false,
    reason: '',
  }
  stage.play(async (agent) => {
    await agent.begin()
    const first = await agent.ask('Bash', { command: 'ls -l' }, 'hook')
    agent.print({ type: 'text-end', text: `first: ${first?.decision}` })
    await new Promise<void>((resolve) => (finish = resolve))
    const second = await agent.ask('Bash', { command: 'ls -a' }, 'hook')
    agent.finish(`second: ${second?.decision}`, { structured: signal })
    return agent.leave()
  })
  const id = await stage.admit({ tier: 4 })
  await hasSaid(id)
  await stage.drop()
  await stage.reopen({ config: {} })
  finish()
  expect(await stage.settled(id)).toMatchObject({
    outcome: 'completed',
    attemptCount: 1,
    resultText: 'second: deny',
    escalation: { decision: 'stop', reason: 'not-recommended' },
  })
  expect((await stage.eventsOf(id, 'text-end'))[0]).toMatchObject({ text: 'first: allow' })
  expect(await stage.eventsOf(id, 'refusal')).toMatchObject([
    { what: expect.stringContaining('ls -a'), reason: expect.stringContaining('no longer configured') },
  ])
})
