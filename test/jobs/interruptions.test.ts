/**
 * What interrupts a job on the real CLI, and how it continues by itself: with the work kept, the prompt asked once, and
 * the agent told what happened to it.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../../src/daemon/start.ts'
import type { RuleInput } from '../../src/simulator/scenario-types.ts'
import { createJob, getJob, jobEnds, jobIs, retryJob, runJob } from '../support/jobs.ts'
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
async function beginWithClock(rules: RuleInput[], config: object = {}): Promise<(ms: number) => void> {
  world = await create(rules, config)
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

it('a timeout in the middle of a tool: resumed by itself, the work kept, the outcome reported as unknown', async () => {
  const pass = await beginWithClock([
    {
      when: '/^write the file$/',
      reply: [bash('echo first >> log; until [ -e go ]; do sleep 0.05; done'), { await: 'results' }, 'never'],
    },
    { when: 'You were interrupted', reply: [bash('cat log'), { await: 'results' }, 'It has ${toolResult}'] },
  ])
  const { id } = await createJob(world, { prompt: 'write the file', permissions: 'allow', timeoutMs: 1000 })
  await jobIs(world, id, (job) => job.progress.toolCalls === 1)
  await until(() => existsSync(join(world.workDir, 'log')), 'the tool to be in the middle of its work')
  pass(1000)
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({
    state: 'completed',
    attemptCount: 2,
    resumeCount: 1,
    resultText: expect.stringContaining('It has first'),
  })
  expect(job.attempts.map((a) => [a.resumed, a.outcome?.name])).toEqual([
    [false, 'timed-out'],
    [true, 'completed'],
  ])
  expect(await readFile(join(world.workDir, 'log'), 'utf8')).toBe('first\n')
  const told = asked().find((text) => text.includes('You were interrupted')) ?? ''
  expect(told).toContain('ran longer than its maximum duration')
  expect(told).toContain('outcome unknown')
  expect(told).not.toContain('write the file')
  expect(asked().filter((text) => text === 'write the file')).toHaveLength(1)
  expect(job.attempts.map((a) => a.agentSessionId)).toEqual([job.sessionId, job.sessionId])
})

it('silence in the middle of a tool is a timeout; silence because the model does not answer is an outage and does not count', async () => {
  const pass = await beginWithClock(
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
  expect(new Set(job.attempts.map((a) => a.agentSessionId)).size).toBe(1)
})

it('a lost connection and an overloaded model: tried again after a pause, the prompt asked once', async () => {
  await begin([
    { when: '/^lose it$/', reply: [{ cut: { times: 4 } }, 'found'] },
    { when: '/^too much$/', reply: [{ error: { status: 529, type: 'overloaded_error', times: 4 } }, 'room'] },
  ])
  for (const prompt of ['lose it', 'too much']) {
    const job = await runJob(world, { prompt })
    expect(job.state).toBe('completed')
    expect(job.attemptCount).toBeGreaterThan(1)
    expect(job.costUsd).toBeGreaterThan(0)
  }
})

it('a usage limit that resets in seconds: waits until then, says so, and goes on by itself', async () => {
  world = await World.create(
    {
      name: 'limit',
      rules: [{ when: 'be quick', reply: [{ rateLimit: { resetsIn: '12s', times: 1 } }, 'done'] }],
    },
    { jobs: { backoff: '20m' } },
  )
  // The CLI reports reset times only for subscriptions.
  delete world.env.ANTHROPIC_API_KEY
  world.env.CLAUDE_CODE_OAUTH_TOKEN = 'made-up'
  await world.startDaemon()
  const { id } = await createJob(world, { prompt: 'be quick' })
  const waiting = await jobIs(world, id, (job) => job.state === 'waiting')
  expect(waiting.message).toContain('rate limit')
  const resetsAt = waiting.attempts[0]?.outcome?.resetsAt ?? ''
  expect(Date.parse(waiting.waitingUntil ?? '')).toBeGreaterThanOrEqual(Date.parse(resetsAt))
  expect(world.processes()).toEqual([])
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'completed', resultText: 'done', attemptCount: 2, resumeCount: 1 })
  expect(Date.parse(job.attempts[1]?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(resetsAt))
  expect(
    world.simulator
      .requests()
      .at(-1)
      ?.userText?.match(/be quick/g),
  ).toHaveLength(1)
})

it('a rate limit without a reset time: waits, then continues by itself', async () => {
  await begin(
    [{ when: 'be quick', reply: [{ error: { status: 429, retryAfter: 100, times: 1 } }, 'done'] }],
    {
      jobs: { backoff: '1s' },
    },
  )
  const job = await runJob(world, { prompt: 'be quick' })
  expect(job).toMatchObject({ state: 'completed', resultText: 'done', attemptCount: 2 })
  const [first, second] = job.attempts
  expect(Date.parse(second?.startedAt ?? '') - Date.parse(first?.endedAt ?? '')).toBeGreaterThanOrEqual(1000)
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

it('an outage that exceeds its limit pauses the job; a retry continues in the same session', async () => {
  await begin([{ when: 'work', reply: [{ error: { status: 500, times: 6 } }, 'done'] }], {
    outage: { limit: '1s' },
  })
  const paused = await runJob(world, { prompt: 'work', maxResumes: 1 })
  expect(paused).toMatchObject({ state: 'paused', attention: 'outage', outcome: 'outage', costUsd: 0 })
  expect(paused.message).toContain('outage.limit')
  expect(new Set(paused.attempts.map((a) => `${a.outcome?.name} ${a.agentSessionId}`)).size).toBe(1)
  for (let job = paused; job.state === 'paused'; ) {
    await retryJob(world, paused.id)
    job = await jobEnds(world, paused.id)
    expect(job.sessionId).toBe(paused.sessionId)
    if (job.state !== 'paused') expect(job).toMatchObject({ state: 'completed', resultText: 'done' })
  }
})

it('a budget that is used up pauses the job; when it is raised, the job continues in the same session and finishes', async () => {
  await begin([
    {
      when: '/^spend$/',
      reply: [bash('echo one'), { await: 'results' }, bash('echo two'), { await: 'results' }, 'All spent.'],
    },
    { when: 'You were interrupted', reply: [bash('echo three'), { await: 'results' }, 'Finished.'] },
  ])
  // The price is known once some run has reported it.
  await runJob(world, { prompt: 'hello' })
  const paused = await runJob(world, { prompt: 'spend', permissions: 'allow', maxBudgetUsd: 0.000001 })
  expect(paused).toMatchObject({ state: 'paused', attention: 'budget', outcome: 'budget' })
  expect(paused.costUsd).toBeGreaterThan(0.000001)

  // Not enough to continue: the job stays paused.
  await world.api('PATCH', `/api/jobs/${paused.id}`, { maxBudgetUsd: 0.000002 })
  expect(await getJob(world, paused.id)).toMatchObject({ state: 'paused', attention: 'budget' })

  const raised = await world.api<{ runId: string }>('PATCH', `/api/jobs/${paused.id}`, { maxBudgetUsd: 5 })
  expect(raised.runId).not.toBe(paused.runId)
  const job = await jobEnds(world, paused.id)
  expect(job).toMatchObject({ state: 'completed', resultText: 'Finished.', sessionId: paused.sessionId })
  expect(job.attempts.at(-1)).toMatchObject({ resumed: true })
  expect(job.costUsd).toBeGreaterThan(paused.costUsd ?? 0)
  expect(asked().filter((text) => text === 'spend')).toHaveLength(1)
})

it('a budget that is raised while the agent works applies at once', async () => {
  await begin([
    {
      when: '/^spend$/',
      reply: [
        bash('until [ -e go ]; do sleep 0.05; done'),
        { await: 'results' },
        bash('echo two'),
        { await: 'results' },
        'All spent.',
      ],
    },
    { when: 'You were interrupted', reply: 'Finished.' },
  ])
  await runJob(world, { prompt: 'hello' })
  const { id } = await createJob(world, { prompt: 'spend', permissions: 'allow', maxBudgetUsd: 0.0018 })
  await jobIs(world, id, (job) => job.progress.toolCalls === 1)
  await world.api('PATCH', `/api/jobs/${id}`, { maxBudgetUsd: 100 })
  writeFileSync(join(world.workDir, 'go'), '')
  expect(await jobEnds(world, id)).toMatchObject({ state: 'completed', maxBudgetUsd: 100 })
})

it('a turn that has finished when its budget is found to be used up stays completed', async () => {
  await begin([])
  const job = await runJob(world, { prompt: 'hello', maxBudgetTokens: 10 })
  expect(job).toMatchObject({ state: 'completed', attemptCount: 1 })
})

it('a budget in tokens applies to all attempts together', async () => {
  await begin([
    { when: '/^spend$/', reply: [bash('echo one'), { await: 'results' }, bash('echo two'), 'never'] },
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

it('an expired session is not resumed: a new one gets the prompt and what was done', async () => {
  await begin(
    [
      {
        when: '/^write the file$/',
        reply: [bash('echo first > log'), { await: 'results' }, { hold: 'gate' }, 'never'],
      },
      { when: 'Its session cannot be resumed', reply: 'Going on.' },
    ],
    { resume: { maxAge: '1s' }, jobs: { ...JOBS, backoff: '2s' } },
  )
  const { id, runId } = await createJob(world, { prompt: 'write the file', permissions: 'allow' })
  await world.simulator.waitForHold('gate')
  await world.waitForEvent(runId, (e) => e.type === 'tool-end')
  await world.api('POST', `/api/jobs/${id}/cancel`)
  const cancelled = await jobEnds(world, id)
  expect(cancelled.state).toBe('cancelled')
  await jobIs(world, id, (job) => Date.parse(job.endedAt ?? '') + 1500 < Date.now())
  await retryJob(world, id)
  const job = await jobEnds(world, id)
  expect(job).toMatchObject({ state: 'completed', resultText: 'Going on.' })
  expect(job.attempts.at(-1)).toMatchObject({ resumed: false, freshReason: 'expired', carry: 'handoff' })
  expect(job.sessionId).not.toBe(cancelled.sessionId)
  const last = asked().at(-1) ?? ''
  expect(last).toContain('echo first > log')
  expect(last).toContain('write the file')
})
