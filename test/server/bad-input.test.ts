import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ERROR_CODES, RepriseError } from '../../src/contract/errors.ts'
import { RunId } from '../../src/contract/ids.ts'
import { HTTP_STATUS } from '../../src/server/base/http-status.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const good = { prompt: 'hello', workDir: '/tmp' }
const count = async () => (await server.engine.listRuns({ limit: 1000 })).items.length

describe('the body of a new run', () => {
  test.each<[string, unknown, string]>([
    ['no prompt', { workDir: '/tmp' }, 'prompt: expected string, got nothing'],
    ['an empty prompt', { ...good, prompt: ' \n' }, 'prompt: expected a prompt that is not empty'],
    ['a prompt that is no text', { ...good, prompt: ['x'] }, 'prompt: expected string, got array'],
    ['no directory', { prompt: 'x' }, 'workDir: expected string, got nothing'],
    ['NUL in the directory', { ...good, workDir: '/tmp\0/x' }, 'workDir: expected a path without NUL'],
    ['an unknown field', { ...good, promt: 'x' }, 'promt: unknown'],
    [
      '__proto__',
      JSON.parse('{"prompt":"x","workDir":"/tmp","__proto__":{"agent":"broken"}}'),
      '__proto__: unknown',
    ],
    ['a model that looks like an option', { ...good, model: '--help' }, 'model: expected a model name'],
    [
      'a session of another kind',
      { ...good, sessionId: RunId.create(new Date()) },
      'sessionId: expected a session id like ses_01J…',
    ],
    ['a mode that does not exist', { ...good, permissions: 'all' }, 'permissions: expected one of'],
    ['a fraction', { ...good, maxTurns: 1.5 }, 'maxTurns: expected int'],
    ['too little', { ...good, maxDurationMs: 1 }, 'maxDurationMs: too small'],
    ['too much', { ...good, maxBudgetUsd: 1e9 }, 'maxBudgetUsd: too big'],
    ['a list', [], 'body: expected object'],
    ['null', null, 'body: expected object'],
    ['a number', 5, 'body: expected object'],
  ])('%s', async (_, json, expected) => {
    const before = await count()
    const { status, body } = await server.call('/api/runs', { json })
    expect([status, body.error.code]).toEqual([400, 'bad-request'])
    expect(body.error.message).toContain(expected)
    expect(await count()).toBe(before)
  })

  test('all problems are named at once', async () => {
    const { body } = await server.call('/api/runs', { json: { prompt: 1, workDir: 2, x: 3 } })
    expect(body.error.details).toMatchObject({
      in: 'body',
      problems: [{ field: 'prompt' }, { field: 'workDir' }, { field: 'x' }],
    })
  })

  test.each(['', '{', '{"prompt": "x"', 'undefined', '\u0000'])('%j is not JSON', async (text) => {
    const headers = { 'content-type': 'application/json' }
    const { status, body } = await server.call('/api/runs', { method: 'POST', body: text, headers })
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      'bad-request',
      'body: expected valid JSON',
    ])
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonx'])(
    'as %s',
    async (type) => {
      const init = { method: 'POST', body: JSON.stringify(good), headers: { 'content-type': type } }
      const { status, body } = await server.call('/api/runs', init)
      expect([status, body.error.code]).toEqual([415, 'bad-request'])
      expect(body.error.message).toContain('expected application/json')
    },
  )

  test('of more than 16 MiB, announced or not', async () => {
    const text = JSON.stringify({ ...good, prompt: 'x'.repeat(17 * 1024 * 1024) })
    const announced = await server.call('/api/runs', {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json' },
    })
    expect([announced.status, announced.body.error.code]).toEqual([413, 'payload-too-large'])
    const streamed = await server.call('/api/runs', {
      method: 'POST',
      body: new Blob([text]).stream(),
      headers: { 'content-type': 'application/json' },
      duplex: 'half',
    } as RequestInit)
    expect([streamed.status, streamed.body.error.code]).toEqual([413, 'payload-too-large'])
  })

  test.each(['', 'a b', 'ü', 'x'.repeat(256)])('Idempotency-Key %j', async (key) => {
    if (key === 'ü') key = Buffer.from(key).toString('latin1')
    const { status, body } = await server.call('/api/runs', {
      json: good,
      headers: { 'idempotency-key': key },
    })
    expect(status).toBe(400)
    expect(body.error.message).toContain('idempotency-key: expected 1 to 255 visible ASCII characters')
  })
})

describe('ids', () => {
  const odd = [
    'job_1',
    'ses_01J00000000000000000000000',
    'run_',
    '%00',
    '%ff%fe',
    '%F0%9F%99%82',
    'a%2Fb',
    "';--",
    'x'.repeat(4000),
  ]
  test.each(odd)('%s is not a run', async (id) => {
    for (const [path, init] of [
      [`/api/runs/${id}`, {}],
      [`/api/runs/${id}/events`, {}],
      [`/api/runs/${id}/cancel`, { method: 'POST' }],
      [`/api/runs/${id}/tool-result`, { json: { toolUseId: 'x', decision: 'allow' } }],
    ] as const) {
      const { status, body } = await server.call(path, init)
      expect([status, body.error.message]).toEqual([400, 'id: expected a run id like run_01J…'])
    }
  })

  test('one that was never given out is not found', async () => {
    const id = RunId.create(new Date())
    for (const path of [
      `/api/runs/${id}`,
      `/api/runs/${id}/events`,
      '/api/sessions/3f0c1e52-5f5e-4c1f-9a56-000000000000',
    ]) {
      const { status, body } = await server.call(path)
      expect([status, body.error.code]).toEqual([404, 'not-found'])
    }
  })

  test.each(['run_01J00000000000000000000000', '%00', '-rf', 'a%20b', 'x'.repeat(300)])(
    '%s is not a session',
    async (id) => {
      const { status, body } = await server.call(`/api/sessions/${id}`)
      expect([status, body.error.code]).toEqual([400, 'bad-request'])
      expect(body.error.message).toContain('expected a session id like ses_01J…')
    },
  )
})

describe('queries', () => {
  test.each([
    ['/api/runs?limit=0', 'limit: '],
    ['/api/runs?limit=201', 'limit: '],
    ['/api/runs?limit=abc', 'limit: expected number'],
    ['/api/runs?limit=1&limit=2', 'limit: expected number'],
    ['/api/runs?state=done', 'state: expected one of'],
    ['/api/runs?sort=up', 'sort: unknown'],
    [`/api/runs?cursor=${'x'.repeat(300)}`, 'cursor: '],
    ['/api/sessions?state=active', 'state: unknown'],
  ])('%s', async (path, expected) => {
    const { status, body } = await server.call(path)
    expect(status).toBe(400)
    expect(body.error.message).toContain(expected)
  })

  test.each([
    ['?after=x', {}],
    ['?after=-1', {}],
    ['?follow=no', {}],
    ['', { 'last-event-id': 'x' }],
  ])('events%s %j', async (query, headers) => {
    const { id } = server.engine.addRun()
    const { status, body } = await server.call(`/api/runs/${id}/events${query}`, { headers })
    expect([status, body.error.code]).toEqual([400, 'bad-request'])
  })
})

test('an answer that is neither a decision nor answers, or both', async () => {
  const { id } = server.engine.addRun()
  for (const json of [{ toolUseId: 'x' }, { toolUseId: 'x', decision: 'allow', answers: {} }]) {
    const { status, body } = await server.call(`/api/runs/${id}/tool-result`, { json })
    expect(status).toBe(400)
    expect(body.error.message).toContain('expected either answers (to a question) or decision')
  }
})

test('unknown routes and methods', async () => {
  expect((await server.call('/api/jbos')).body.error).toMatchObject({
    code: 'not-found',
    message: '/api/jbos does not exist',
  })
  const { status, body, headers } = await server.call('/api/runs', { method: 'DELETE' })
  expect([status, headers.get('allow')]).toEqual([405, 'POST, GET'])
  expect(body.error.message).toBe('/api/runs does not support DELETE: expected POST, GET')
  expect((await server.call(`/api/runs/${RunId.create(new Date())}/cancel`)).status).toBe(405)
})

test('bytes that are not HTTP end the connection and nothing else', async () => {
  await new Promise<void>((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write('\x00\x01 garbage\r\n\r\n'))
    socket.on('close', () => resolve()).resume()
  })
  expect((await server.call('/api/health')).status).toBe(200)
})

test("the engine's refusals keep their code", async () => {
  const { status, body } = await server.call('/api/runs', { json: { ...good, agent: 'nobody' } })
  expect([status, body.error.code]).toEqual([422, 'agent-unknown'])
  const run = server.engine.addRun({ state: 'settled' })
  expect((await server.call(`/api/runs/${run.id}/cancel`, { method: 'POST' })).status).toBe(409)
})

test('an unexpected error is logged and not shown', async () => {
  const { status, body } = await server.call('/api/runs', { json: { ...good, agent: 'broken' } })
  expect([status, body.error.code]).toEqual([500, 'internal'])
  expect(JSON.stringify(body)).not.toContain('secret')
  expect(server.logged.map(({ fields }) => String((fields as { err: Error }).err))).toContain(
    'Error: secret insides',
  )
})

test('every code has a status that is an error', () => {
  expect(Object.keys(HTTP_STATUS).sort()).toEqual([...ERROR_CODES].sort())
  for (const code of ERROR_CODES)
    expect(HTTP_STATUS[new RepriseError(code, 'x').code]).toBeGreaterThanOrEqual(400)
  expect(TOKEN.length).toBeGreaterThan(32)
})
