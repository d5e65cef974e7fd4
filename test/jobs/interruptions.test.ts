/**
 * What interrupts a job on the real CLI, and how it continues by itself: with the work kept, the prompt asked once, and
 * the agent told what happened to it.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../../src/daemon/start.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { createJob, jobEnds, jobIs, retryJob, runJob } from '../support/jobs.ts'
import { until, World } from '../support/world.ts'

let world: World
let daemon: Daemon | null = null
afterEach(async () => {
  await daemon?.close()
  daemon = null
  await world.close()
})

const JOBS = { backoff: '100ms' }
const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'work' } })
const otherwise: RuleInput = { reply: 'You said: ${user}' }

const create = (rules: RuleInput[], config: object = {}) =>
  World.create({ name: 'jobs', rules: [...rules, otherwise] }, { jobs: JOBS, ...config })

async function begin(rules: RuleInput[], config: object = {}): Promise<void> {
  world = await create(rules, config)
  await world.startDaemon()
}

/**
 * Runs the daemon in the test's own process, with a clock that only the test moves: how long an agent takes to start on
 * a busy machine does not count against its time limit.
 */
async function startWithClock(): Promise<(ms: number) => void> {
  const startMs = Date.now()
  let passedMs = 0
  const clock = { now: () => new Date(startMs + passedMs), monotonicMs: () => passedMs }
  const log = { info: () => {}, warn: () => {}, error: () => {}, redactWith: () => {} }
  daemon = await startDaemon({ home: world.home, cwd: world.dir, env: world.env, log, clock })
  return (ms) => {
    passedMs += ms
  }
}

/** What the model was asked, request by request: the newest user text. */
const asked = () => world.simulator.requests().flatMap((r) => (r.userText ? [r.userText] : []))

it('silence in the middle of a tool is a timeout; silence because the model does not answer is an outage and does not count', async () => {
  world = await create(
    [
      {
        when: '/^write the file$/',
        reply: [
          bash('echo first >> log; until [ -e go ]; do sleep 0.05; done'),
          { await: 'results' },
          'never',
        ],
      },
      { when: 'You were interrupted', times: 1, reply: [{ hold: 'gate' }, 'never'] },
      { when: 'You were interrupted', reply: 'Went on.' },
    ],
    { run: { idleTimeout: '1s', termAfter: '1s', killAfter: '1s' } },
  )
  const pass = await startWithClock()
  const { id, runId } = await createJob(world, {
    prompt: 'write the file',
    permissions: 'allow',
    maxResumes: 1,
  })
  // Any output of the agent ends its silence, so the clock is moved until the agent has been stopped.
  const stopped = (times: number) =>
    until(async () => {
      const stops = (await world.events(runId)).filter(({ type }) => type === 'stop-request')
      if (stops.length < times) pass(1000)
      return stops.length === times
    }, 'the agent to be stopped')
  await until(() => existsSync(join(world.workDir, 'log')), 'the tool to be in the middle of its work')
  await stopped(1)
  await world.simulator.waitForHold('gate')
  const first = await world.waitForEvent(runId, (event) => event.type === 'model-request')
  await world.waitForEvent(
    runId,
    (event) => event.type === 'model-request' && event.attemptId !== first.attemptId,
  )
  await stopped(2)
  expect(await jobIs(world, id, (job) => job.state === 'waiting')).toMatchObject({
    message: expect.stringContaining('outage since'),
  })
  expect(world.processes()).toEqual([])
  pass(1000)
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'completed', resultText: 'Went on.' })
  expect(job.attempts.map((a) => a.outcome?.name)).toEqual(['timed-out', 'outage', 'completed'])
  expect(job.attempts.map((a) => a.resumed)).toEqual([false, true, true])
  expect(new Set(job.attempts.map((a) => a.agentSessionId))).toEqual(new Set([job.sessionId]))
  // The work is kept, its outcome is said to be unknown, and the prompt is not sent again.
  expect(await readFile(join(world.workDir, 'log'), 'utf8')).toBe('first\n')
  const told = asked().find((text) => text.includes('You were interrupted')) ?? ''
  expect(told).toContain('printed nothing for longer than its idle timeout')
  expect(told).toContain('outcome unknown')
  expect(told).not.toContain('write the file')
  expect(asked().filter((text) => text === 'write the file')).toHaveLength(1)
})

it('a lost connection and an overloaded model: tried again after a pause, the prompt asked once', async () => {
  await begin([
    { when: '/^lose it$/', reply: [{ cut: { times: 2 } }, 'found'] },
    { when: '/^too much$/', reply: [{ error: { status: 529, type: 'overloaded_error', times: 2 } }, 'room'] },
  ])
  for (const prompt of ['lose it', 'too much']) {
    const job = await runJob(world, { prompt })
    expect(job.state).toBe('completed')
    expect(job.attemptCount).toBeGreaterThan(1)
    expect(job.costUsd).toBeGreaterThan(0)
  }
})

it('a usage limit: waits until it resets, says so, and goes on', async () => {
  world = await create([{ when: 'be quick', reply: [{ rateLimit: { resetsIn: '1h', times: 1 } }, 'done'] }])
  // The CLI reports reset times only for subscriptions.
  delete world.env.ANTHROPIC_API_KEY
  world.env.CLAUDE_CODE_OAUTH_TOKEN = 'made-up'
  const pass = await startWithClock()
  const { id } = await createJob(world, { prompt: 'be quick' })
  const waiting = await jobIs(world, id, (job) => job.state === 'waiting')
  expect(waiting.message).toContain('rate limit')
  const resetsAt = waiting.attempts[0]?.outcome?.resetsAt ?? ''
  expect(Date.parse(waiting.waitingUntil ?? '')).toBeGreaterThanOrEqual(Date.parse(resetsAt))
  expect(world.processes()).toEqual([])
  pass(Date.parse(waiting.waitingUntil ?? '') - Date.parse(waiting.createdAt))
  // A change of the job makes the daemon look at what is due.
  await world.api('PATCH', `/api/jobs/${id}`, { priority: 1 })
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'completed', resultText: 'done', attemptCount: 2, resumeCount: 1 })
  expect(Date.parse(job.attempts[1]?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(resetsAt))
  expect(
    asked()
      .at(-1)
      ?.match(/be quick/g),
  ).toHaveLength(1)
})

it('an agent that would wait long for the model is ended; its job waits without a process', async () => {
  await begin([
    { when: { contains: 'be quick' }, reply: [{ error: { status: 429, retryAfter: 40, times: 1 } }, 'done'] },
  ])
  const { id } = await createJob(world, { prompt: 'be quick' })
  const waiting = await jobIs(world, id, (job) => job.state === 'waiting')
  expect(waiting.attempts[0]).toMatchObject({ outcome: { name: 'rate-limited' } })
  const wait = Date.parse(waiting.waitingUntil ?? '') - Date.parse(waiting.attempts[0]?.startedAt ?? '')
  expect(wait).toBeGreaterThan(39_000)
  expect(world.processes()).toEqual([])
  await retryJob(world, id)
  expect(await jobEnds(world, id)).toMatchObject({ state: 'completed', resultText: 'done' })
})

it('a budget in tokens applies to all attempts together', async () => {
  await begin([
    // It cannot end before it is stopped.
    { when: '/^spend$/', reply: [bash('echo one'), { await: 'results' }, { hold: 'over' }, 'never'] },
  ])
  const job = await runJob(world, { prompt: 'spend', permissions: 'allow', maxBudgetTokens: 100 })
  expect(job).toMatchObject({ state: 'paused', attention: 'budget' })
  expect(job.progress.tokens).toBeGreaterThanOrEqual(100)
  // A retry without more budget ends at once, and costs nothing.
  await retryJob(world, job.id)
  const again = await jobEnds(world, job.id)
  expect(again).toMatchObject({ state: 'paused', attention: 'budget', costUsd: job.costUsd })
  expect(again.attemptCount).toBe(job.attemptCount)
})
