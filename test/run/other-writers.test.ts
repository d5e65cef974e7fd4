/** Other processes that write a session of ours at the same time, on the real CLI: no branch is lost silently. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, it } from 'vitest'
import type { RunDetail } from '../../src/contract/run.ts'
import { identify, readMarker } from '../../src/process/proc.ts'
import { loggingAgent } from '../support/agents.ts'
import { sayByHand } from '../support/by-hand.ts'
import { Chat } from '../support/chat.ts'
import { REPRISE, until, World } from '../support/world.ts'

let world: World
let second: ChildProcess | null = null
afterEach(async () => {
  const ended = second && once(second, 'exit')
  second?.kill('SIGTERM')
  await ended
  second = null
  await world.close()
})

const HELD = {
  name: 'held',
  rules: [
    {
      when: '/^(?!.*so far).*ours$/s',
      reply: [{ text: 'We begin.' }, { hold: 'ours' }, { text: ' And end.' }],
    },
    { when: '/^by hand$/', reply: [{ hold: 'hand' }, { text: 'Said by hand.' }] },
    { reply: 'Noted.' },
  ],
}

it('use by hand while a turn runs: the turn stops and continues in a new session that knows both', async () => {
  world = await World.create(HELD)
  await world.startDaemon()
  const chat = await Chat.create(world)
  const { sessionId } = await chat.say('remember heliotrope')
  const { id } = await chat.post('ours')
  await world.simulator.waitForHold('ours')
  const hand = sayByHand(world, sessionId!, 'by hand')
  await world.simulator.waitForHold('hand')
  const run = await world.settled(id)
  world.simulator.release('hand')
  await hand
  expect(run.attempts.map(({ outcome, freshReason }) => [outcome?.name, freshReason])).toEqual([
    ['session-busy', null],
    ['completed', 'session-in-use'],
  ])
  expect(run.sessionId).not.toBe(sessionId)
  const stop = (await world.events(id)).find((event) => event.type === 'stop-request')
  expect(stop).toMatchObject({
    cause: 'session-conflict',
    message: expect.stringMatching(/another process \(pid \d+\) is writing the same session/),
  })
  const sent = JSON.stringify(
    world.simulator.requests().findLast((r) => r.userText.includes('ours'))!.messages,
  )
  for (const words of ['remember heliotrope', 'by hand', 'ours']) expect(sent).toContain(words)
  expect((await chat.detail()).messages.map(({ origin }) => origin)).toContain('outside')
})

it('a daemon on a copy of the home leaves the agents of the original alone, also one it cannot read, and resumes nothing under them', async () => {
  const claude = { model: 'haiku' }
  world = await World.create(HELD, { agents: { claude, mine: { ...claude, adapter: 'claude' } } })
  await world.startDaemon()
  const first = await world.run({ prompt: 'remember heliotrope' })
  const held = await world.createRun({ prompt: 'ours', sessionId: first.session! })
  const unreadable = await world.createRun({ prompt: 'ours', agent: 'mine' })
  const areHeld = () => world.simulator.requests().filter(({ heldAt }) => heldAt === 'ours').length === 2
  await until(areHeld, 'both agents to be at work')
  const copy = copyHome()
  writeFileSync(join(copy, 'config.yaml'), JSON.stringify({ agents: { claude } }))
  const database = new DatabaseSync(join(copy, 'reprise.db'))
  database.exec("delete from facts where key like 'adapter:%'")
  database.close()
  const api = await secondDaemon(copy)
  expect(await settledBy(api, held.id)).toMatchObject({
    state: 'settled',
    outcome: 'cancelled',
    message: expect.stringContaining('copy'),
  })
  expect(await settledBy(api, unreadable.id)).toMatchObject({ outcome: 'cancelled' })
  const { id } = await api('POST', '/api/runs', {
    workDir: world.workDir,
    prompt: 'theirs',
    sessionId: first.session,
  })
  const theirs = await settledBy(api, id)
  expect(theirs).toMatchObject({ outcome: 'completed', resumed: false, freshReason: 'session-in-use' })
  world.simulator.release('ours')
  for (const { id } of [held, unreadable])
    expect(await world.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
})

it('two daemons that start in one session at the same time: the later agent stops, and its run knows both', async () => {
  world = await World.create({
    name: 'both',
    rules: [
      {
        when: '/^(?!.*so far).*(ours|theirs)$/s',
        reply: [{ text: 'We begin.' }, { hold: 'both' }, ' And end.'],
      },
      { reply: 'Noted.' },
    ],
  })
  const agent = await loggingAgent(world)
  await world.configure({ agents: { claude: { model: 'haiku', command: agent.command } } })
  await world.startDaemon()
  const { session } = await world.run({ prompt: 'remember heliotrope' })
  const api = await secondDaemon(copyHome())
  // Neither agent begins before both have been started, so neither daemon can have seen the agent of the other one.
  const started = join(world.dir, 'started')
  await agent.beforeTurn(
    `touch "${started}.$$"; while [ "$(ls "${started}".* | wc -l)" -lt 2 ]; do sleep 0.05; done`,
  )
  const ours = await world.createRun({ prompt: 'ours', sessionId: session! })
  const theirs = await api('POST', '/api/runs', {
    workDir: world.workDir,
    prompt: 'theirs',
    sessionId: session,
  })
  // The later one may be stopped before its request has arrived.
  const isHeld = () => world.simulator.requests().some(({ heldAt }) => heldAt === 'both')
  const startOf = (pid: number) => Number(identify(pid)?.startTicks)
  /**
   * One process of each attempt, the oldest: the script of this test's agent has children for a moment. A child that
   * has ended meanwhile belongs to no attempt.
   */
  const findAgents = () =>
    world
      .processes()
      .filter(({ command }) => /claude.* -p /.test(command) && !/keeper/.test(command))
      .map(({ pid }) => ({ pid, attempt: readMarker(pid), startedAt: startOf(pid) }))
      .filter(({ attempt, startedAt }) => attempt !== null && !Number.isNaN(startedAt))
      .sort((a, b) => a.startedAt - b.startedAt || a.pid - b.pid)
      .filter(({ attempt }, index, all) => all.findIndex((one) => one.attempt === attempt) === index)
  // Both are alive until one of them has seen the other, which may happen as soon as both are at work.
  let agents: ReturnType<typeof findAgents> = []
  await until(() => {
    if (agents.length < 2) agents = findAgents()
    return agents.length === 2 && isHeld()
  }, 'both agents')

  // The model answers only after one of them has ended.
  const read = async () => [await world.getRun(ours.id), await api('GET', `/api/runs/${theirs.id}`)]
  const gaveWay = await until(
    async () => (await read()).find(({ state }) => state === 'settled'),
    'one to give way',
  )
  expect(gaveWay.attempts.map(({ outcome, freshReason }) => [outcome?.name, freshReason])).toEqual([
    ['session-busy', null],
    // The reason depends on which agent wrote to the session's file first.
    ['completed', expect.stringMatching(/^(session-in-use|transcript-forked)$/)],
  ])
  expect(gaveWay.attempts[0]?.id).toBe(agents[1]?.attempt)
  const told = JSON.stringify(world.simulator.requests().findLast((r) => r.kind === 'main')?.messages)
  for (const words of ['remember heliotrope', 'ours', 'theirs']) expect(told).toContain(words)

  world.simulator.release('both')
  await settledBy(api, theirs.id)
  const other = (await Promise.all([world.settled(ours.id), api('GET', `/api/runs/${theirs.id}`)])).find(
    ({ id }) => id !== gaveWay.id,
  )
  expect(other).toMatchObject({ outcome: 'completed', attemptCount: 1, resumed: true })
})

it('the same home by another path: through a link, then renamed, its agent is adopted and completes', async () => {
  world = await World.create(HELD)
  const [link, renamed] = [join(world.dir, 'link'), join(world.dir, 'renamed')]
  symlinkSync(world.home, link)
  world.env.REPRISE_HOME = link
  await world.startDaemon()
  const { id } = await world.createRun({ prompt: 'ours' })
  await world.simulator.waitForHold('ours')
  await world.killDaemon()
  renameSync(world.home, renamed)
  // The agent still uses the old path, which a link makes available again; the daemon uses the new path.
  symlinkSync(renamed, world.home)
  world.env.REPRISE_HOME = renamed
  await world.startDaemon()
  world.simulator.release('ours')
  expect(await world.settled(id)).toMatchObject({ outcome: 'completed', attemptCount: 1 })
  expect(world.processes()).toEqual([])
})

function copyHome(): string {
  const copy = join(world.dir, 'copy')
  // Otherwise the parts of the database might be copied in different states.
  process.kill(world.daemonPid, 'SIGSTOP')
  expect(spawnSync('cp', ['-a', world.home, copy]).status).toBe(0)
  process.kill(world.daemonPid, 'SIGCONT')
  return copy
}

type Api = (method: string, path: string, body?: object) => Promise<RunDetail>

async function secondDaemon(home: string): Promise<Api> {
  const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@"', REPRISE, 'up', '--foreground'], {
    cwd: world.dir,
    env: { ...world.env, REPRISE_HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  second = child
  await once(child.stdout, 'data')
  const { url } = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as { url: string }
  const authorization = `Bearer ${readFileSync(join(home, 'token'), 'utf8').trim()}`
  return async (method, path, body) => {
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await response.json()) as RunDetail
  }
}

async function settledBy(api: Api, id: string): Promise<RunDetail> {
  for (;;) {
    const run = await api('GET', `/api/runs/${id}`)
    if (run.state === 'settled') return run
    await new Promise((next) => setTimeout(next, 50))
  }
}
