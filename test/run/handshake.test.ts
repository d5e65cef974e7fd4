/**
 * A second agent, which needs a handshake over stdin and stdout and picks its session ids itself, driven by the real
 * daemon without changes to the path. The protocol state is rebuilt from the spool when the daemon is killed in the
 * middle of the handshake or of a turn; no message reaches the agent twice.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until, World } from '../support/world.ts'

const DAEMON = resolve(import.meta.dirname, '../support/handshake/daemon.ts')

let world: World
let dir: string

beforeAll(async () => {
  world = await World.create({ rules: [{ reply: [{ text: 'unused' }] }] })
  dir = join(world.dir, 'handshake')
  world.env.HANDSHAKE_DIR = dir
})
beforeEach(async () => {
  await rm(dir, { recursive: true, force: true })
  await mkdir(dir)
  if (world.daemonPid === 0) await start()
})
afterAll(() => world.close())

const start = () => world.startDaemon({ program: [process.execPath, DAEMON] })
const hold = (point: string) => writeFile(join(dir, `hold-${point}`), '')
const release = (point: string) => rm(join(dir, `hold-${point}`))
const reached = (point: string) => until(() => existsSync(join(dir, `at-${point}`)), `the agent at ${point}`)

/** The methods of the requests that the agent got, and `answer` for each answer, in order. */
const received = () =>
  readFileSync(join(dir, 'received'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { method?: string }).method ?? 'answer')

it('runs an agent that opens its session after a handshake, and resumes it by the id that the agent chose', async () => {
  const first = await world.run({ prompt: 'begin', agent: 'handshake' })
  expect(first).toMatchObject({ outcome: 'completed', resultText: 'first half, second half', resumed: false })
  expect(first.sessionId).toMatch(/^chosen-by-agent-/)
  const second = await world.run({ prompt: 'go on', agent: 'handshake', sessionId: first.sessionId ?? '' })
  expect(second).toMatchObject({ outcome: 'completed', resumed: true, sessionId: first.sessionId })
  expect(received()).toEqual([
    'initialize',
    'session/new',
    'session/prompt',
    'initialize',
    'session/load',
    'session/prompt',
  ])
})

it('starts a new session with the history when its context overflows, because it cannot compact', async () => {
  const first = await world.run({ prompt: 'begin', agent: 'handshake' })
  const second = await world.run({
    prompt: 'too much',
    agent: 'handshake',
    sessionId: first.sessionId ?? '',
  })
  expect(second.attempts.map(({ resumed, outcome }) => [resumed, outcome?.name])).toEqual([
    [true, 'context-overflow'],
    [false, 'completed'],
  ])
  expect(second.freshReason).toBe('context-full')
  expect(readFileSync(join(dir, 'received'), 'utf8').split('\n').at(-2)).toContain('second half')
})

describe('continues with the same process when the daemon is killed', () => {
  it.each(['initialize', 'session-new'])('in the middle of the handshake, at %s', async (point) => {
    await hold(point)
    const { id } = await world.createRun({ prompt: 'begin', agent: 'handshake' })
    await reached(point)
    await world.killDaemon()
    await release(point)
    await start()
    expect(await world.settled(id)).toMatchObject({
      outcome: 'completed',
      attemptCount: 1,
      resultText: 'first half, second half',
    })
    expect(received()).toEqual(['initialize', 'session/new', 'session/prompt'])
  })

  it('in the middle of a turn, with an open question: the texts before and after it are one answer', async () => {
    await hold('turn')
    const { id } = await world.createRun({ prompt: 'ask me', agent: 'handshake', permissions: 'ask' })
    await world.waitForEvent(id, (event) => event.type === 'text-end')
    await world.killDaemon()
    await release('turn')
    await start()
    const ask = await world.waitForEvent(id, (event) => event.type === 'permission-ask')
    expect(ask).toMatchObject({ tool: 'run_command', kind: 'shell', command: 'true' })
    await world.killDaemon()
    await start()
    await world.api('POST', `/api/runs/${id}/tool-result`, { toolUseId: 'call-1', decision: 'allow' })
    expect(await world.settled(id)).toMatchObject({
      outcome: 'completed',
      attemptCount: 1,
      resultText: 'first half, second half',
    })
    expect(received()).toEqual(['initialize', 'session/new', 'session/prompt', 'answer'])
    const events = await world.events(id)
    for (const type of ['session-start', 'prompt-accept', 'permission-ask', 'turn-end'])
      expect(events.filter((event) => event.type === type)).toHaveLength(1)
  })
})

it('is told to stop in the session that it opened itself', async () => {
  await hold('turn')
  const { id } = await world.createRun({ prompt: 'begin', agent: 'handshake' })
  await reached('turn')
  await world.api('POST', `/api/runs/${id}/cancel`)
  expect(await world.settled(id)).toMatchObject({ outcome: 'cancelled' })
  expect(received()).toEqual(['initialize', 'session/new', 'session/prompt', 'session/cancel'])
  expect(readFileSync(join(dir, 'received'), 'utf8')).toMatch(/cancel.*chosen-by-agent-/)
})
