/** Jobs over HTTP: routing, statuses, what is refused and how. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { Page } from '../../src/contract/http.ts'
import { JobId, RunId } from '../../src/contract/ids.ts'
import type { Job } from '../../src/contract/job.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const path = (id: string, rest = '') => `/api/jobs/${id}${rest}`
const good = { prompt: 'hello', workDir: '/tmp' }
const count = async () => (await server.engine.listJobs({ limit: 1000 })).items.length

test('a job is created once per Idempotency-Key; the key cannot be used for another job', async () => {
  const headers = { 'idempotency-key': 'job-1' }
  const first = await server.call<Job>('/api/jobs', { json: good, headers })
  const again = await server.call<Job>('/api/jobs', { json: good, headers })
  expect([first.status, again.status]).toEqual([201, 200])
  expect(again.body.id).toBe(first.body.id)
  expect(first.headers.get('location')).toBe(path(first.body.id))
  const other = await server.call('/api/jobs', { json: { ...good, prompt: 'other' }, headers })
  expect([other.status, other.body.error.code]).toEqual([409, 'conflict'])
})

test('every field arrives as it was sent', async () => {
  const json = {
    ...good,
    agent: 'claude',
    model: 'haiku',
    permissions: 'allow',
    timeoutMs: 1000,
    maxResumes: 0,
    maxTurns: 1,
    maxBudgetUsd: 0.01,
    maxBudgetTokens: 1,
    priority: -100,
    checkpoints: { everyMs: 60_000, onChange: 'restore' },
    webhook: 'http://127.0.0.1:9/x',
  }
  const { status, body } = await server.call<Job>('/api/jobs', { json })
  expect(status).toBe(201)
  expect(server.engine.asked.at(-1)).toEqual({ call: 'create', id: body.id, with: json })
})

test('jobs are listed by state and page, and read one by one', async () => {
  const { id } = server.engine.addJob({ state: 'paused', attention: 'budget' })
  server.engine.addJob({ state: 'paused' })
  const page = await server.call<Page<Job>>('/api/jobs?state=paused&limit=1')
  expect(page.body).toMatchObject({ items: [{ state: 'paused' }], nextCursor: 'more' })
  expect((await server.call(path(id))).body).toMatchObject({ id, attention: 'budget', checkpoints: [] })
})

test('budget and priority are changed; null removes a limit', async () => {
  const { id } = server.engine.addJob({ maxBudgetUsd: 1 })
  const patch = (json: object) => server.call<Job>(path(id), { method: 'PATCH', json })
  expect(await patch({ maxBudgetUsd: 5, priority: 3 })).toMatchObject({
    status: 200,
    body: { maxBudgetUsd: 5, priority: 3 },
  })
  expect((await patch({ maxBudgetUsd: null })).body.maxBudgetUsd).toBeNull()
})

test.each([
  ['', true],
  ['?resume=true', true],
  ['?resume=false', false],
])('retry%s', async (query, resume) => {
  const { id } = server.engine.addJob({ state: 'failed' })
  const { status, body } = await server.call<Job>(path(id, `/retry${query}`), { method: 'POST' })
  expect([status, body.state]).toEqual([202, 'queued'])
  expect(server.engine.asked.at(-1)).toEqual({ call: 'retry', id, with: { resume } })
})

test('cancel, diff, restore', async () => {
  const { id } = server.engine.addJob()
  expect((await server.call(path(id, '/diff'))).body).toMatchObject({ from: 1, to: null })
  expect((await server.call(path(id, '/diff?from=2&to=3'))).body).toMatchObject({ from: 2, to: 3 })
  const restored = await server.call(path(id, '/restore'), { json: { checkpoint: 2 } })
  expect(restored).toMatchObject({ status: 200, body: { restored: 2, saved: 3 } })
  expect((await server.call(path(id, '/cancel'), { method: 'POST' })).status).toBe(202)
})

test('the transcript is a stream of lines', async () => {
  const { id } = server.engine.addJob()
  const headers = { authorization: `Bearer ${TOKEN}` }
  const response = await fetch(new URL(path(id, '/transcript'), server.url), { headers })
  expect(response.headers.get('content-type')).toContain('application/x-ndjson')
  expect(await response.text()).toBe('{"type":"user","text":"ü"}\n{"type":"assistant"}\n')
})

describe('bad input', () => {
  test.each<[string, unknown, string]>([
    ['no prompt', { workDir: '/tmp' }, 'prompt: expected string, got nothing'],
    ['an empty prompt', { ...good, prompt: ' ' }, 'prompt: expected a prompt that is not empty'],
    ['no directory', { prompt: 'x' }, 'workDir: expected string, got nothing'],
    ['an unknown field', { ...good, timeout: 5 }, 'timeout: unknown'],
    ['the name it has for runs', { ...good, maxDurationMs: 5000 }, 'maxDurationMs: unknown'],
    [
      'a run for a session',
      { ...good, sessionId: RunId.create(new Date()) },
      'sessionId: expected a session id',
    ],
    ['a negative timeout', { ...good, timeoutMs: -1 }, 'timeoutMs: too small'],
    ['a timeout of a month', { ...good, timeoutMs: 31 * 86_400_000 }, 'timeoutMs: too big'],
    ['a timeout in words', { ...good, timeoutMs: '30m' }, 'timeoutMs: expected number, got string'],
    ['a timeout that JSON cannot hold', { ...good, timeoutMs: Number.NaN }, 'timeoutMs: expected number'],
    ['negative resumes', { ...good, maxResumes: -1 }, 'maxResumes: too small'],
    ['endless resumes', { ...good, maxResumes: 1e308 }, 'maxResumes: '],
    ['half a resume', { ...good, maxResumes: 1.5 }, 'maxResumes: expected int'],
    ['no turns', { ...good, maxTurns: 0 }, 'maxTurns: too small'],
    ['a budget of nothing', { ...good, maxBudgetUsd: 0 }, 'maxBudgetUsd: too small'],
    ['a negative budget', { ...good, maxBudgetUsd: -5 }, 'maxBudgetUsd: too small'],
    ['an absurd budget', { ...good, maxBudgetUsd: 1e308 }, 'maxBudgetUsd: too big'],
    ['a budget in words', { ...good, maxBudgetUsd: '5' }, 'maxBudgetUsd: expected number, got string'],
    ['a fraction of a token', { ...good, maxBudgetTokens: 0.5 }, 'maxBudgetTokens: expected int'],
    ['absurdly many tokens', { ...good, maxBudgetTokens: 1e15 }, 'maxBudgetTokens: too big'],
    ['a priority too high', { ...good, priority: 101 }, 'priority: too big'],
    ['a priority too low', { ...good, priority: -1e308 }, 'priority: '],
    ['a word for a priority', { ...good, priority: 'high' }, 'priority: expected number, got string'],
    ['checkpoints all the time', { ...good, checkpoints: { everyMs: 0 } }, 'checkpoints.everyMs: too small'],
    [
      'an unknown policy',
      { ...good, checkpoints: { onChange: 'panic' } },
      'checkpoints.onChange: expected one of',
    ],
    ['an unknown field of checkpoints', { ...good, checkpoints: { every: 5 } }, 'checkpoints.every: unknown'],
    [
      'a word for checkpoints',
      { ...good, checkpoints: 'yes' },
      'checkpoints: expected boolean, got string; or',
    ],
    ['a file as webhook', { ...good, webhook: 'file:///etc/passwd' }, 'webhook: expected an http or https'],
    ['no address', { ...good, webhook: 'x' }, 'webhook: expected an http or https'],
    ['a list', [], 'body: expected object'],
  ])('%s', async (_, json, expected) => {
    const before = await count()
    const { status, body } = await server.call('/api/jobs', { json })
    expect([status, body.error.code]).toEqual([400, 'bad-request'])
    expect(body.error.message).toContain(expected)
    expect(await count()).toBe(before)
  })

  test.each<[unknown, string]>([
    [{}, 'expected at least one of maxBudgetUsd, maxBudgetTokens, priority'],
    [{ maxBudgetUsd: -1 }, 'maxBudgetUsd: too small'],
    [{ maxBudgetUsd: '5' }, 'maxBudgetUsd: expected number'],
    [{ maxBudgetTokens: 1e300 }, 'maxBudgetTokens: '],
    [{ priority: null }, 'priority: expected number'],
    [{ priority: 1000 }, 'priority: too big'],
    [{ prompt: 'other' }, 'prompt: unknown'],
    [null, 'body: expected object'],
  ])('a change to %j', async (json, expected) => {
    const { id } = server.engine.addJob()
    const { status, body } = await server.call(path(id), { method: 'PATCH', json })
    expect(status).toBe(400)
    expect(body.error.message).toContain(expected)
  })

  test.each([
    ['/retry?resume=maybe', 'POST', 'resume: expected true or false, got "maybe"'],
    ['/retry?resume=', 'POST', 'resume: expected true or false, got ""'],
    ['/retry?resume=true&resume=false', 'POST', 'resume: expected true or false'],
    ['/retry?fresh=true', 'POST', 'fresh: unknown'],
    ['/diff?from=-1', 'GET', 'from: expected the number of a checkpoint'],
    ['/diff?to=last', 'GET', 'to: expected the number of a checkpoint'],
    ['/diff?form=1', 'GET', 'form: unknown'],
  ])('%s', async (rest, method, expected) => {
    const { id } = server.engine.addJob({ state: 'failed' })
    const { status, body } = await server.call(path(id, rest), { method })
    expect(status).toBe(400)
    expect(body.error.message).toContain(expected)
    expect((await server.engine.getJob(id)).state).toBe('failed')
  })

  test.each([
    {},
    { checkpoint: '2' },
    { checkpoint: -1 },
    { checkpoint: 1.5 },
    { checkpoint: 1, force: true },
  ])('to restore %j', async (json) => {
    const { id } = server.engine.addJob()
    expect((await server.call(path(id, '/restore'), { json })).status).toBe(400)
  })

  test.each(['/api/jobs?limit=0', '/api/jobs?limit=1e9', '/api/jobs?state=settled', '/api/jobs?sort=up'])(
    '%s',
    async (list) => {
      expect((await server.call(list)).status).toBe(400)
    },
  )

  const everywhere = [
    ['', {}],
    ['', { method: 'PATCH', json: { priority: 1 } }],
    ['/retry', { method: 'POST' }],
    ['/cancel', { method: 'POST' }],
    ['/diff', {}],
    ['/restore', { json: { checkpoint: 1 } }],
    ['/transcript', {}],
  ] as const

  test.each(['run_01J00000000000000000000000', 'job_', '%00', "';--", 'x'.repeat(4000)])(
    '%s is not a job',
    async (id) => {
      for (const [rest, init] of everywhere) {
        const { status, body } = await server.call(path(id, rest), init)
        expect([status, body.error.message]).toEqual([400, 'id: expected a job id like job_01J…'])
      }
    },
  )

  test('one that was never given out', async () => {
    const unknown = JobId.create(new Date())
    for (const [rest, init] of everywhere) {
      const { status, body } = await server.call(path(unknown, rest), init)
      expect([status, body.error.code]).toEqual([404, 'not-found'])
    }
  })

  test("other methods, an agent that is not there, and the engine's refusals", async () => {
    const { id } = server.engine.addJob()
    const { status, headers } = await server.call(path(id), { method: 'DELETE' })
    expect([status, headers.get('allow')]).toEqual([405, 'GET, PATCH'])
    expect((await server.call('/api/jobs', { json: { ...good, agent: 'nobody' } })).status).toBe(422)
    expect((await server.call(path(id, '/retry'), { method: 'POST' })).status).toBe(409)
  })
})

describe('the client', () => {
  const connect = () => createClient({ url: server.url, token: TOKEN })

  test('has a call for each', async () => {
    const client = connect()
    const key = { idempotencyKey: 'client-job-1' }
    const { id } = await client.createJob(good, key)
    expect((await client.createJob(good, key)).id).toBe(id)
    expect((await client.listJobs({ limit: 1, state: 'running' })).items.map((job) => job.id)).toEqual([id])
    expect((await client.updateJob(id, { priority: 7 })).priority).toBe(7)
    expect(await client.diffJob(id)).toMatchObject({ from: 1, to: null })
    expect(await client.diffJob(id, { from: 2, to: 3 })).toMatchObject({ from: 2, to: 3 })
    expect(await client.restoreJob(id, 4)).toEqual({ restored: 4, saved: 5 })
    expect(await new Response(await client.jobTranscript(id)).text()).toContain('"assistant"')
    expect((await client.cancelJob(id)).state).toBe('cancelled')
    expect((await client.retryJob(id, { resume: false })).state).toBe('queued')
    expect(server.engine.asked.at(-1)).toMatchObject({ call: 'retry', with: { resume: false } })
    await expect(client.getJob('job_x')).rejects.toMatchObject({ code: 'bad-request' })
  })

  test('follows the run that works on a job, and knows when the job has ended', async () => {
    const client = connect()
    const job = server.engine.addJob({ state: 'running' })
    server.engine.emit(job.runId, { type: 'note', text: 'one' })
    const ends = client.whenJobEnds(job.id)
    while (server.engine.listeners(job.runId) === 0) await new Promise((resolve) => setImmediate(resolve))
    server.engine.addJob({ ...job, state: 'completed' })
    server.engine.settle(job.runId)
    expect(await ends).toMatchObject({ id: job.id, state: 'completed' })
    const types: string[] = []
    for await (const event of client.jobEvents(job.id)) types.push(event.type)
    expect(types).toEqual(['note', 'run-end'])
  })
})
