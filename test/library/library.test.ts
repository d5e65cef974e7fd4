/** The engine in process, on the real CLI: what a program that embeds Reprise sees, and what it leaves behind. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/contract/events.ts'
import { type OpenOptions, openReprise, type Reprise, RepriseError } from '../../src/library/index.ts'
import { REPRISE, until, World } from '../support/world.ts'

let world: World
let home = ''
let homes = 0
const opened: Reprise[] = []

beforeAll(async () => {
  world = await World.create({
    name: 'library',
    rules: [
      { when: '/^wait/', reply: ['Starting.', { hold: 'gate' }, 'Finished.'] },
      { reply: 'You said: ${user}' },
    ],
  })
})
afterAll(() => world.close())

beforeEach(async () => {
  home = join(world.dir, `home-${++homes}`)
  await mkdir(home, { mode: 0o700 })
})
afterEach(async () => {
  for (const reprise of opened.splice(0)) await reprise.close()
  world.simulator.reset()
})

const SETTINGS: OpenOptions['settings'] = {
  agents: { claude: { model: 'haiku' } },
  run: { termAfter: '1s', killAfter: '1s' },
}

async function open(options: OpenOptions = {}): Promise<Reprise> {
  const reprise = await openReprise({
    home,
    env: world.env,
    cwd: world.workDir,
    settings: SETTINGS,
    ...options,
  })
  opened.push(reprise)
  return reprise
}

/** Resolves when the run has said something; the agent then waits at the gate of the scenario. */
async function speaking(events: AsyncIterable<RunEvent>): Promise<void> {
  for await (const event of events) if (event.type === 'text-delta') return
  throw new Error('the run ended')
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => (error instanceof RepriseError ? error.code : error),
  )

const agents = () => world.processes().filter(({ command }) => /claude|keeper/.test(command))

it('runs, turns, jobs, watches and follow-ups', async () => {
  const reprise = await open()
  expect(reprise).toMatchObject({ home, daemon: null, notices: [] })

  const run = await reprise.run({ prompt: 'hello', workDir: '.' })
  const events: RunEvent[] = []
  for await (const event of run) events.push(event)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(events.filter(({ type }) => type === 'run-end')).toEqual([events.at(-1)])
  expect(await run.result()).toMatchObject({ outcome: 'completed', resultText: 'You said: hello' })
  // Another loop over the same handle reads everything again, and so does a handle that is made later.
  for (const again of [run, await reprise.attach(run.id)]) {
    const same: RunEvent[] = []
    for await (const event of again) same.push(event)
    expect(same).toEqual(events)
  }

  const chat = await reprise.createConversation({ workDir: world.workDir })
  await (await reprise.turn(chat.id, { text: 'my number is 17' })).result()
  const second = await (await reprise.turn(chat.id, { text: 'which number?' })).result()
  expect(second).toMatchObject({ outcome: 'completed', resumed: true })
  const asked = world.simulator.requests().findLast(({ userText }) => userText.endsWith('which number?'))
  expect(JSON.stringify(asked?.messages)).toContain('my number is 17')
  expect((await reprise.getConversation(chat.id)).messages).toHaveLength(4)

  const job = await reprise.job({ prompt: 'do it' }, { idempotencyKey: 'one' })
  expect((await reprise.job({ prompt: 'do it' }, { idempotencyKey: 'one' })).id).toBe(job.id)
  const ofJob = []
  for await (const event of job) ofJob.push(event.type)
  expect(ofJob.at(-1)).toBe('run-end')
  expect(await job.result()).toMatchObject({ state: 'completed', costUsd: expect.any(Number) })
  // Nothing is left to cancel, and that is no error.
  expect(await job.cancel()).toMatchObject({ state: 'completed' })

  const watch = await reprise.createWatch({ name: 'web', workDir: '.', prompt: 'look', every: '1d' })
  expect(watch).toMatchObject({ workDir: world.workDir, everyMs: 86_400_000 })
  expect(await reprise.triggerWatch('web', { reason: 'a test' })).toMatchObject({ result: 'started' })
  const followUp = await reprise.createFollowUp({ runId: run.id, prompt: 'and now?', inMs: 3_600_000 })
  expect((await reprise.listFollowUps({ runId: run.id })).items).toMatchObject([{ id: followUp.id }])
  const changes = []
  for await (const change of reprise.changes({ follow: false })) changes.push(change)
  expect(changes.length).toBeGreaterThan(5)
  expect(existsSync(join(home, 'daemon.json'))).toBe(false)
})

it('a signal cancels the run, whose loop ends with its end', async () => {
  const reprise = await open()
  const controller = new AbortController()
  const run = await reprise.run({ prompt: 'wait for me' }, { signal: controller.signal })
  await speaking(run)
  controller.abort()
  const types = []
  for await (const { type } of run) types.push(type)
  expect(types.filter((type) => type === 'run-end')).toHaveLength(1)
  expect(await run.result()).toMatchObject({ outcome: 'cancelled' })
  expect(agents()).toEqual([])

  const aborted = reprise.run({ prompt: 'never' }, { signal: controller.signal })
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
  expect((await reprise.listRuns()).items).toHaveLength(1)
})

describe('closed while a run is active', () => {
  it('nothing is left running, and whoever reads gets the rest', async () => {
    const reprise = await open()
    const run = await reprise.run({ prompt: 'wait for me' })
    const [result, second] = [run.result(), await reprise.job({ prompt: 'wait, too' })]
    const reader = run[Symbol.asyncIterator]()
    let next = await reader.next()
    await speaking(run)
    await speaking(second)
    await Promise.all([reprise.close(), reprise.close()])
    expect(agents()).toEqual([])
    expect(await result).toMatchObject({ outcome: 'cancelled' })
    let last: RunEvent | undefined
    for (; !next.done; next = await reader.next()) last = next.value
    expect(last).toMatchObject({ type: 'run-end', outcome: { name: 'cancelled' } })
    for (const call of [
      () => reprise.run({ prompt: 'more' }),
      () => reprise.getRun(run.id),
      () => reprise.events(run.id).next(),
      () => second.cancel(),
    ]) {
      expect(await codeOf(call())).toBe('closed')
    }
    await using again = await open()
    expect(await again.getJob(second.id)).toMatchObject({ state: 'cancelled' })
    expect((await again.listRuns({ state: 'queued' })).items).toEqual([])
  })

  it('with leaveRunning the agent continues, and the next engine or a daemon takes it over', async () => {
    const first = await open()
    const run = await first.run({ prompt: 'wait for me' })
    const rest = (async () => {
      for await (const _ of run);
    })()
    await speaking(run)
    // The keeper has short-lived processes besides the agent.
    const isAgent = ({ command }: { command: string }) =>
      /claude.* -p /.test(command) && !/keeper/.test(command)
    const agent = agents().find(isAgent)?.pid
    expect(agent).toBeDefined()
    const result = codeOf(run.result())
    await Promise.all([first.close({ leaveRunning: true }), expect(codeOf(rest)).resolves.toBe('closed')])
    expect(await result).toBe('closed')
    expect(agents().map(({ pid }) => pid)).toContain(agent)

    const second = await open()
    expect(await second.getRun(run.id)).toMatchObject({ state: 'running', attemptCount: 1 })
    await second.close({ leaveRunning: true })

    world.env.REPRISE_HOME = home
    await world.startDaemon()
    const third = await open({ settings: undefined })
    expect(third.daemon).toMatchObject({ pid: world.daemonPid })
    const taken = await third.attach(run.id)
    world.simulator.release('gate')
    expect(await taken.result()).toMatchObject({ outcome: 'completed', attemptCount: 1 })
    await third.close()
    await world.killDaemon('SIGTERM')
  })

  it.each([false, true])(
    'a process that is kept for the next turn ends (leaveRunning: %s)',
    async (leaveRunning) => {
      const reprise = await open()
      const chat = await reprise.createConversation({ workDir: world.workDir })
      await (await reprise.turn(chat.id, { text: 'one' })).result()
      expect((await reprise.status()).kept).toHaveLength(1)
      expect(agents()).not.toEqual([])
      await reprise.close({ leaveRunning })
      expect(agents()).toEqual([])
      // The next engine resumes the session in a new process.
      const next = await open()
      const second = await (await next.turn(chat.id, { text: 'two' })).result()
      expect(second).toMatchObject({ outcome: 'completed', resumed: true, attemptCount: 1 })
    },
  )

  it('what an earlier engine has left running is ended, too, and its result is known', async () => {
    const first = await open()
    const { id } = await first.run({ prompt: 'wait for me' })
    await speaking(first.events(id))
    await first.close({ leaveRunning: true })
    const second = await open()
    const handles = await Promise.all(Array.from({ length: 5 }, () => second.attach(id)))
    const results = Promise.all(handles.map((handle) => handle.result()))
    await second.close()
    for (const result of await results) expect(result).toMatchObject({ id, outcome: 'cancelled' })
    expect(agents()).toEqual([])
  })
})

describe('a home that is in use', () => {
  it('by a daemon: it is used by the same interface, or refused', async () => {
    world.env.REPRISE_HOME = home
    await world.startDaemon()
    const [reprise, other] = [await open({ settings: undefined }), await open({ settings: undefined })]
    const foreign = await other.run({ prompt: 'wait', model: 'haiku' })
    expect(reprise.daemon).toMatchObject({ pid: world.daemonPid })
    const run = await reprise.run({ prompt: 'hello', model: 'haiku' })
    const types = []
    for await (const { type } of run) types.push(type)
    expect(types.at(-1)).toBe('run-end')
    expect(await run.result()).toMatchObject({ outcome: 'completed', workDir: world.workDir })
    const waiting = await reprise.run({ prompt: 'wait', model: 'haiku' })
    await speaking(waiting)

    expect(await codeOf(open({ settings: undefined, daemon: 'refuse' }))).toBe('home-locked')
    expect(await codeOf(open())).toBe('conflict')

    const left = await open({ settings: undefined })
    const unread = codeOf((await left.attach(waiting.id)).result())
    await left.close({ leaveRunning: true })
    expect(await unread).toBe('closed')

    // It cancels what it has started, not what others have.
    await reprise.close()
    expect(await codeOf(reprise.listRuns())).toBe('closed')
    expect(await other.getRun(waiting.id)).toMatchObject({ state: 'settled', outcome: 'cancelled' })
    expect(await other.getRun(foreign.id)).not.toMatchObject({ state: 'settled' })
    await other.close()
    await world.killDaemon('SIGTERM')
  })

  it('by another engine, in this process or in another one: an error says by which', async () => {
    await open()
    await expect(open()).rejects.toMatchObject({
      code: 'home-locked',
      message: `an engine in this process is using ${home}`,
      hint: expect.stringContaining('close()'),
    })
    const env = { ...world.env, REPRISE_HOME: home }
    const command = promisify(execFile)(REPRISE, ['runs', '--json'], { env, cwd: world.workDir })
    const { stdout } = await command.catch((error: { stdout: string }) => error)
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'home-locked', message: `an engine in the process ${process.pid} is using ${home}` },
    })
  })
})

it('an engine whose home is removed closes itself', async () => {
  const entries: string[] = []
  const reprise = await open({ log: ({ message }) => entries.push(message) })
  await rm(home, { recursive: true })
  await until(async () => (await codeOf(reprise.listRuns())) === 'closed', 'the engine to be closed')
  expect(entries).toContain('the home has been removed, renamed or replaced: closing')
  await reprise.close()
  expect(existsSync(home)).toBe(false)
})

it('mistakes are typed errors that say what was expected', async () => {
  const reprise = await open()
  const mistakes: [string, () => Promise<unknown>, RegExp][] = [
    ['bad-request', () => reprise.run({ prompt: 5 as never }), /^prompt: expected string, got number$/],
    ['bad-request', () => reprise.run({ prompt: 'x', promt: 'y' } as never), /^promt: unknown field$/],
    ['bad-request', () => reprise.run(undefined as never), /prompt: expected/],
    ['bad-request', () => reprise.run({ prompt: 'x', workDir: 7 as never }), /^workDir: expected string/],
    ['bad-request', () => reprise.triggerWatch('w', { payload: 1n as never }), /JSON/],
    ['bad-request', () => reprise.getRun('job_1'), /expected a run id like run_01J/],
    ['bad-request', () => reprise.attach(null as never), /expected/],
    ['not-found', () => reprise.getRun('run_01JZZZZZZZZZZZZZZZZZZZZZZZ'), /run_01J/],
    ['not-found', () => reprise.events('run_01JZZZZZZZZZZZZZZZZZZZZZZZ').next(), /run_01J/],
    ['agent-unknown', () => reprise.run({ prompt: 'x', agent: 'gpt' }), /no agent named "gpt"/],
    ['work-dir-unusable', () => reprise.run({ prompt: 'x', workDir: 'nowhere' }), /nowhere/],
    [
      'config-invalid',
      () => openReprise({ home, env: {}, agents: { claude: { modle: 'x' } as never } }),
      /modle/,
    ],
    ['bad-request', () => openReprise({ home, deamon: 'use' } as never), /deamon: unknown option/],
    ['bad-request', () => openReprise({ home: 7 as never }), /home: expected string/],
    ['bad-request', () => openReprise('here' as never), /expected object/],
  ]
  for (const [code, make, message] of mistakes) {
    const error = await make().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RepriseError)
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
  }
})
