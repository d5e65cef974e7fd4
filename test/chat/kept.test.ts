/**
 * Kept processes on the real CLI. Twenty turns, with kills, evictions, edits and switches at random between them, are
 * sent twice: with processes that are kept, and with a new process for each turn. The model must be sent the same.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Status } from '../../src/contract/http.ts'
import type { RunDetail } from '../../src/contract/run.ts'
import { announceSeed } from '../core/random.ts'
import { sayByHand } from '../support/by-hand.ts'
import { Chat } from '../support/chat.ts'
import { killIfThere } from '../support/processes.ts'
import { until, World } from '../support/world.ts'

let world: World
afterEach(() => world.close())

const KEPT = { conversations: { keepWarm: '10m', maxKept: 1 } }

async function begin(config: object): Promise<void> {
  world = await World.create({ name: 'echo', rules: [{ reply: 'Noted: ${user}' }] }, config)
  await world.startDaemon()
}

const kept = async () => (await world.api<Status>('GET', '/api/status')).kept
const agents = () => world.processes().filter(({ command }) => /claude.*--(resume|session-id)=/.test(command))

async function wasKept(run: RunDetail): Promise<boolean> {
  return (await world.events(run.id)).some((event) => event.type === 'attempt-start' && event.kept === true)
}

const notesOf = async (run: RunDetail) =>
  (await world.events(run.id)).flatMap((event) => (event.type === 'note' ? [event.text] : [])).join('; ')

/** What the model was sent, without what differs between any two sessions. */
const sent = () =>
  world.simulator
    .requests({ kind: 'main' })
    .map(({ model, system, tools, messages }) =>
      JSON.stringify({ model, system, tools, messages }, null, 1).replace(
        /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
        'UUID',
      ),
    )

type Act = 'kill' | 'evict' | 'edit' | 'switch' | 'settings' | 'warm' | 'daemon' | null
/** What may happen before a turn. Most turns follow the last one at once. */
const ACTS: readonly Act[] = [
  ...['kill', 'evict', 'edit', 'switch', 'settings', 'warm', 'daemon'],
  ...Array.from({ length: 7 }, () => null),
] as Act[]

/** A small generator of random numbers, so that the same seed gives the same acts. */
function chooseActs(seed: number, count: number): Act[] {
  let state = seed
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return ACTS[(state >> 8) % ACTS.length] ?? null
  })
}

async function act(chat: Chat, what: Act, turn: number, disturbs: boolean): Promise<void> {
  if (what === 'edit' && turn > 0) await chat.edit(0, `edited before turn ${turn}`)
  if (what === 'settings') await writeFile(join(world.workDir, 'CLAUDE.md'), `Rule ${turn}.\n`)
  if (!disturbs) return
  if (what === 'kill') for (const { pid } of agents()) killIfThere(pid)
  if (what === 'evict') await (await Chat.create(world)).say('something else')
  if (what === 'warm') await world.api('POST', `/api/conversations/${chat.id}/warm`, {})
  if (what === 'daemon') {
    await world.killDaemon()
    await world.startDaemon()
  }
}

/** Returns what the model was sent in the turns, and how many of them had a process that was kept. */
async function converse(acts: readonly Act[], disturbs: boolean): Promise<{ sent: string[]; kept: number }> {
  const chat = await Chat.create(world)
  const requests: string[] = []
  let count = 0
  let model = 'haiku'
  for (const [turn, what] of acts.entries()) {
    await act(chat, what, turn, disturbs)
    if (what === 'switch') model = model === 'haiku' ? 'sonnet' : 'haiku'
    world.simulator.reset()
    const run = await chat.say(`turn ${turn}`, { model })
    // A process that was killed this moment may not be known to be dead: the turn is then given to another one.
    const attempts = what === 'kill' ? [1, 2] : [1]
    const ends = run.attempts.map(({ outcome }) => `${outcome?.name}: ${outcome?.message}`).join('; ')
    const story = `turn ${turn} after ${what} of ${acts}: ${ends}; ${await notesOf(run)}\n${world.log()}`
    expect(run, story).toMatchObject({
      outcome: 'completed',
      attemptCount: expect.toBeOneOf(attempts),
    })
    if (await wasKept(run)) count++
    requests.push(...sent())
  }
  return { sent: requests, kept: count }
}

it('sends the model the same as new processes do', async () => {
  const acts = chooseActs(announceSeed('kept'), 20)
  await begin(KEPT)
  const warm = await converse(acts, true)
  await writeFile(join(world.workDir, 'CLAUDE.md'), '')
  await world.killDaemon('SIGTERM')
  expect(world.processes()).toEqual([])
  await world.configure({ conversations: { keepWarm: '0s' } })
  await writeFile(join(world.workDir, 'CLAUDE.md'), '')
  await world.startDaemon()
  const cold = await converse(acts, false)
  expect(cold.kept).toBe(0)
  expect(warm.kept).toBeGreaterThan(acts.filter((one) => one === null).length / 2)
  expect(warm.sent).toHaveLength(cold.sent.length)
  for (const [index, request] of warm.sent.entries()) expect(request, acts.join()).toBe(cold.sent[index])
})

it('gives way to a person, is not kept beside a running shell, and leaves nothing behind', async () => {
  await begin({ conversations: { keepWarm: '10m' } })
  const chat = await Chat.create(world)
  const first = await chat.say('one')
  const [{ pid = 0 } = {}] = agents()

  // Somebody continues the session by hand while the process waits: the process ends, and the turn is imported.
  await sayByHand(world, first.sessionId ?? '', 'by hand')
  await until(async () => (await kept()).length === 0, 'the kept process to be given up')
  expect(agents().map((agent) => agent.pid)).not.toContain(pid)
  const second = await chat.say('two')
  expect(second).toMatchObject({ outcome: 'completed' })
  expect(await wasKept(second)).toBe(false)
  expect(await chat.texts()).toContain('user: by hand')

  // The next turns are paid for once each.
  const third = await chat.say('three')
  expect(await wasKept(third)).toBe(true)
  const session = await world.api<{ costUsd: number }>('GET', `/api/sessions/${third.session}`)
  const costs = [first, second, third].map(({ costUsd }) => costUsd ?? 0)
  expect(session.costUsd).toBeCloseTo(costs.reduce((sum, cost) => sum + cost))

  // A shell in the background would wake the agent, so its process ends with the turn.
  world.simulator.setScenario({
    name: 'shell',
    rules: [
      {
        reply: [
          { tool: 'Bash', input: { command: 'sleep 600', description: 'serve', run_in_background: true } },
          { await: 'results' },
          { text: 'It runs.' },
        ],
      },
    ],
  })
  await chat.say('serve', { permissions: 'allow' })
  expect(await kept()).toEqual([])
  expect(world.processes()).toEqual([])
})

it('the process of a conversation that has planned a follow-up is kept', async () => {
  const input = { cron: '0 0 1 1 *', prompt: 'look again', recurring: false }
  const reply = [{ tool: 'CronCreate', input }, { await: 'results' as const }, 'Planned.']
  world = await World.create(
    { name: 'plans', rules: [{ when: '/^plan$/m', reply }, { reply: 'Noted.' }] },
    KEPT,
  )
  await world.startDaemon()
  const chat = await Chat.create(world)
  await chat.say('plan')
  expect(await kept()).toMatchObject([{ conversationId: chat.id }])
  expect(await wasKept(await chat.say('and now?'))).toBe(true)
})
