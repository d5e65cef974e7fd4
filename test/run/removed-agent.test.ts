/**
 * An agent is removed from the configuration while one of its runs is open. The stored attempt is enough to read its
 * output, answer it and supervise it to its end. Only steps that would have to start the agent again fail.
 */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, it } from 'vitest'
import type { SessionDetail } from '../../src/contract/session.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Chat } from '../support/chat.ts'
import { bash, FIXED, report, results } from '../support/incident.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const CLAUDE = { model: 'haiku' }
const HELD: RuleInput = {
  when: '/^begin the work$/',
  reply: [{ text: 'Thinking.' }, { hold: 'gate' }, { text: ' Done.' }],
}
const ECHO: RuleInput = { reply: 'You said: ${user}' }

async function begin(...rules: RuleInput[]): Promise<void> {
  const agents = { claude: CLAUDE, second: { ...CLAUDE, adapter: 'claude' } }
  world = await World.create({ name: 'removed', rules: [...rules, ECHO] }, { agents })
  await world.startDaemon()
}

async function restartWithout(meanwhile: () => Promise<unknown> = async () => {}): Promise<void> {
  await world.killDaemon()
  await meanwhile()
  await world.configure({ agents: { claude: CLAUDE } })
  await world.startDaemon()
}

const agentOf = () =>
  world.processes().find((p) => /claude.* -p /.test(p.command) && !/keeper/.test(p.command))

async function readSpool(): Promise<string> {
  const [attempt] = await readdir(join(world.home, 'spool'))
  return readFileSync(join(world.home, 'spool', attempt ?? '', 'out'), 'utf8')
}

/** The end of its text may be the beginning of a secret and is not stored yet, but the text before it is. */
function isHeldBack(): boolean {
  const database = new DatabaseSync(join(world.home, 'reprise.db'), { readOnly: true })
  const held = database.prepare('select 1 from attempts where held_from < spool_offset').get()
  database.close()
  return held !== undefined
}

const ALL = { outcome: 'completed', attemptCount: 1, resultText: ' Done.', agent: 'second' }
const UNKNOWN = { code: 'agent-unknown', message: expect.stringContaining('"second"') }

it('and continues to work: it is adopted, and its run completes', async () => {
  await begin(HELD)
  const { id } = await world.createRun({ prompt: 'begin the work', agent: 'second' })
  await world.simulator.waitForHold('gate')
  const { pid } = agentOf()!
  await restartWithout()
  expect(agentOf()?.pid).toBe(pid)
  world.simulator.release('gate')
  const run = await world.settled(id)
  expect(run).toMatchObject(ALL)
  expect(run.costUsd).toBeGreaterThan(0)
  expect(world.processes()).toEqual([])
})

it('and finishes before a daemon adopts it: all its output is stored', async () => {
  await begin(HELD)
  const { id } = await world.createRun({ prompt: 'begin the work', agent: 'second' })
  await world.simulator.waitForHold('gate')
  await restartWithout(async () => {
    world.simulator.release('gate')
    await until(async () => (await readSpool()).includes('"type":"result"'), 'the result')
  })
  expect(await world.settled(id)).toMatchObject(ALL)
  const events = await world.events(id)
  expect(events.filter((e) => e.type === 'gap' || e.type === 'raw-line')).toEqual([])
  expect(events.flatMap((e) => (e.type === 'text-end' ? [e.text] : [])).join('')).toBe('Thinking. Done.')
})

it('and asks: the answer reaches it', async () => {
  const touch = { tool: 'Bash', input: { command: 'touch made', description: 'make' } }
  await begin({ when: '/^begin the work$/', reply: [touch, { await: 'results' }, { text: ' Done.' }] })
  const { id } = await world.createRun({ prompt: 'begin the work', agent: 'second', permissions: 'ask' })
  await world.waitForEvent(id, (e) => e.type === 'permission-ask')
  await restartWithout()
  const [ask] = (await world.getRun(id)).pending
  await world.api('POST', `/api/runs/${id}/tool-result`, { toolUseId: ask!.toolUseId, decision: 'allow' })
  expect(await world.settled(id)).toMatchObject(ALL)
})

it('and is killed: its output is stored, and the run says which agent is missing to continue', async () => {
  // The text arrives in pieces of 24 characters, and the second piece is delayed.
  const text = 'Thinking hard about what may be done next.'
  await begin({ when: '/^begin the work$/', reply: [{ text, pace: '1m' }] })
  const { id } = await world.createRun({ prompt: 'begin the work', agent: 'second' })
  await until(isHeldBack, 'its first words to be read')
  await restartWithout(async () => process.kill(agentOf()!.pid, 'SIGKILL'))
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'crashed', attemptCount: 1 })
  expect(run.message).toContain('there is no agent named "second"')
  expect(run.message).toContain('config.yaml')
  expect(run.attempts[0]?.outcome?.message).toContain('ended by signal 9')
  const events = await world.events(id)
  expect(events.flatMap((e) => (e.type === 'text-delta' ? [e.text] : [])).join('')).toBe(text.slice(0, 24))
})

it('a tier that is removed while its agent works: the agent may report, and nothing else is allowed', async () => {
  const tiers = { 4: { model: 'haiku', tools: ['Bash'] } }
  const work = [bash('ls'), results, { hold: 'gate' }, bash('ls -a'), results]
  const rule: RuleInput = { when: '/Look at web/', reply: [...work, report(FIXED), results, ' Done.'] }
  world = await World.create({ name: 'tiers', rules: [rule] }, { tiers, maxTier: 4 })
  await world.startDaemon()
  const { id } = await world.createRun({ prompt: 'Look at web', tier: 4 })
  await world.simulator.waitForHold('gate')
  await world.killDaemon()
  await world.configure({})
  await world.startDaemon()
  world.simulator.release('gate')
  expect(await world.settled(id)).toMatchObject({
    outcome: 'completed',
    attemptCount: 1,
    escalation: { decision: 'stop', reason: 'not-recommended' },
  })
  const refused = (await world.events(id)).filter((e) => e.type === 'refusal')
  expect(refused).toMatchObject([
    { what: expect.stringContaining('ls -a'), reason: expect.stringContaining('no longer configured') },
  ])
})

it('its sessions can still be read, but not continued', async () => {
  await begin()
  const { session } = await world.run({ prompt: 'hello', agent: 'second' })
  await restartWithout()
  const detail = await world.api<SessionDetail>('GET', `/api/sessions/${session}`)
  expect(detail).toMatchObject({ agent: 'second', turns: 1, heldBy: null })
  expect(detail.transcript).toEqual({ state: 'unknown', path: null, bytes: null })
  const response = await world.request('POST', '/api/runs', {
    prompt: 'and now?',
    workDir: world.workDir,
    sessionId: session,
  })
  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({ error: UNKNOWN })
})

it('a conversation keeps its answer, and another agent continues it', async () => {
  await begin(HELD)
  const chat = await Chat.create(world, { agent: 'second' })
  const { id } = await chat.post('begin the work')
  await world.simulator.waitForHold('gate')
  await restartWithout()
  world.simulator.release('gate')
  expect(await world.settled(id)).toMatchObject(ALL)
  expect(await chat.texts()).toEqual(['user: begin the work', 'second: Thinking. Done.'])
  const next = await chat.say('what was done?', { agent: 'claude' })
  expect(next).toMatchObject({ outcome: 'completed', carry: 'transcript' })
})

it('a turn that waits for the agent is cancelled, not crashed, and says which agent is missing', async () => {
  await begin(HELD)
  const chat = await Chat.create(world, { agent: 'second' })
  const { id: first } = await chat.post('begin the work')
  await world.simulator.waitForHold('gate')
  const { id } = await chat.post('and then?')
  await restartWithout()
  world.simulator.release('gate')
  expect(await world.settled(first)).toMatchObject(ALL)
  const run = await world.settled(id)
  expect(run).toMatchObject({ outcome: 'cancelled', attemptCount: 0 })
  expect(run.message).toMatch(/^not started: there is no agent named "second"\. Configured agents: claude\./)
})

it('an agent whose adapter is unknown is ended, and a gap says which bytes were not read', async () => {
  await begin(HELD)
  const { id } = await world.createRun({ prompt: 'begin the work', agent: 'second' })
  await world.simulator.waitForHold('gate')
  let printed = 0
  await restartWithout(async () => {
    printed = Buffer.byteLength(await readSpool())
    const database = new DatabaseSync(join(world.home, 'reprise.db'))
    database.exec("delete from facts where key like 'adapter:%'")
    database.exec('update attempts set spool_offset = 0')
    database.close()
  })
  const run = await world.settled(id)
  expect(run.outcome).toBe('crashed')
  expect(run.message).toContain('there is no agent named "second"')
  const gaps = (await world.events(id)).filter((e) => e.type === 'gap')
  expect(gaps).toMatchObject([{ from: 0, reason: 'not-read' }])
  expect(gaps[0]!.to).toBeGreaterThanOrEqual(printed)
  expect(world.processes()).toEqual([])
})
