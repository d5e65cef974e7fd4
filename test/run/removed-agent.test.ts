/**
 * An agent is removed from the configuration while one of its runs is open, on the real CLI. What else follows from that
 * is in test/engine/path/run-removed-agent.test.ts.
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, it } from 'vitest'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { Chat } from '../support/chat.ts'
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

/** The end of its text may be the beginning of a secret and is not stored yet, but the text before it is. */
function isHeldBack(): boolean {
  const database = new DatabaseSync(join(world.home, 'reprise.db'), { readOnly: true })
  const held = database.prepare('select 1 from attempts where held_from < spool_offset').get()
  database.close()
  return held !== undefined
}

const ALL = { outcome: 'completed', attemptCount: 1, resultText: ' Done.', agent: 'second' }

it('and continues to work, or asks: it is adopted, and its runs complete; a conversation continues with another agent', async () => {
  const touch = { tool: 'Bash', input: { command: 'touch made', description: 'make' } }
  await begin(HELD, { when: '/^ask$/', reply: [touch, { await: 'results' }, { text: ' Done.' }] })
  const chat = await Chat.create(world, { agent: 'second' })
  const { id } = await chat.post('begin the work')
  await world.simulator.waitForHold('gate')
  const { pid } = agentOf()!
  const asks = await world.createRun({ prompt: 'ask', agent: 'second', permissions: 'ask' })
  await world.waitForEvent(asks.id, (e) => e.type === 'permission-ask')
  await restartWithout()
  expect(world.processes().map((process) => process.pid)).toContain(pid)

  const [ask] = (await world.getRun(asks.id)).pending
  const path = `/api/runs/${asks.id}/tool-result`
  await world.api('POST', path, { toolUseId: ask!.toolUseId, decision: 'allow' })
  expect(await world.settled(asks.id)).toMatchObject(ALL)
  world.simulator.release('gate')
  const run = await world.settled(id)
  expect(run).toMatchObject(ALL)
  expect(run.costUsd).toBeGreaterThan(0)
  expect(world.processes()).toEqual([])
  expect(await chat.texts()).toEqual(['user: begin the work', 'second: Thinking. Done.'])
  const next = await chat.say('what was done?', { agent: 'claude' })
  expect(next).toMatchObject({ outcome: 'completed', carry: 'transcript' })
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
