import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from '../../src/contract/http.ts'
import type { Run } from '../../src/contract/run.ts'
import { readVersion } from '../../src/library/version.ts'
import { type ServerUnderTest, startServer } from './daemon-double.ts'

let server: ServerUnderTest
let shutdowns = 0
beforeAll(async () => {
  server = await startServer({ onShutdown: () => shutdowns++ })
})
afterAll(() => server.close())

test('health and status', async () => {
  expect((await server.call('/api/health')).body).toMatchObject({
    status: 'ok',
    version: readVersion(),
    pid: process.pid,
  })
  expect((await server.call('/api/status')).body).toMatchObject({
    home: '/nowhere',
    url: server.url,
    simulator: null,
  })
})

test('a run is created once per Idempotency-Key', async () => {
  const json = { prompt: 'hello', workDir: '/tmp' }
  const headers = { 'idempotency-key': 'abc-1' }
  const first = await server.call<Run>('/api/runs', { json, headers })
  const again = await server.call<Run>('/api/runs', { json, headers })
  const other = await server.call<Run>('/api/runs', { json })
  expect([first.status, again.status, other.status]).toEqual([201, 200, 201])
  expect(again.body.id).toBe(first.body.id)
  expect(other.body.id).not.toBe(first.body.id)
  expect(first.headers.get('location')).toBe(`/api/runs/${first.body.id}`)
})

test('a prompt of 5 MB, with every kind of character, arrives as it was sent', async () => {
  const prompt = `\u2028 "quotes" \\ \n ü 漢 🙂 ${'x'.repeat(5_000_000)}`
  const { status, body } = await server.call<Run>('/api/runs', { json: { prompt, workDir: '/tmp' } })
  expect(status).toBe(201)
  expect(body.prompt === prompt).toBe(true)
})

test('runs are listed by state and page', async () => {
  server.engine.addRun({ state: 'queued' })
  const queued = await server.call<Page<Run>>('/api/runs?state=queued')
  expect(queued.body.items.map((run) => run.state)).toEqual(['queued'])
  const one = await server.call<Page<Run>>('/api/runs?limit=1')
  expect(one.body).toMatchObject({ items: [{}], nextCursor: 'more' })
})

test('one run, cancel, answer', async () => {
  const run = server.engine.addRun()
  expect((await server.call(`/api/runs/${run.id}`)).body).toMatchObject({ id: run.id, attempts: [] })
  expect((await server.call(`/api/runs/${run.id}/cancel`, { method: 'POST' })).status).toBe(202)
  const answer = { toolUseId: 'toolu_1', decision: 'deny', message: 'no' }
  expect((await server.call(`/api/runs/${run.id}/tool-result`, { json: answer })).status).toBe(200)
  expect(server.engine.answers).toEqual([{ id: run.id, answer }])
})

test("sessions by our id and by the agent's own", async () => {
  const { session } = server.engine
  expect((await server.call('/api/sessions')).body).toMatchObject({
    items: [{ id: session.id }],
    nextCursor: null,
  })
  for (const id of [session.id, session.agentSessionId]) {
    expect((await server.call(`/api/sessions/${id}`)).body).toMatchObject({ id: session.id })
  }
})

test('agents', async () => {
  expect((await server.call('/api/agents')).body).toEqual({ items: [], nextCursor: null })
})

test('a shutdown is answered, then done', async () => {
  const { status, body } = await server.call('/api/shutdown', { method: 'POST' })
  expect([status, body]).toEqual([202, { pid: process.pid }])
  expect(shutdowns).toBe(1)
})

test('the OpenAPI document describes every route with named schemas', async () => {
  const { body } = await server.call<{
    openapi: string
    paths: Record<string, Record<string, object>>
    components: { schemas: Record<string, object> }
  }>('/api/openapi.json')
  expect(body.openapi).toBe('3.1.0')
  const routes = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(routes.sort()).toEqual([
    'DELETE /api/conversations/{id}',
    'DELETE /api/conversations/{id}/messages/{mid}',
    'DELETE /api/followups/{id}',
    'DELETE /api/sessions/{id}',
    'DELETE /api/tokens/{id}',
    'DELETE /api/trust/decisions',
    'DELETE /api/watches/{id}',
    'GET /api/agents',
    'GET /api/approvals',
    'GET /api/audit',
    'GET /api/changes',
    'GET /api/configuration',
    'GET /api/conversations',
    'GET /api/conversations/{id}',
    'GET /api/conversations/{id}/move',
    'GET /api/conversations/{id}/plan',
    'GET /api/costs',
    'GET /api/cycles/{id}',
    'GET /api/followups',
    'GET /api/followups/{id}',
    'GET /api/health',
    'GET /api/ids/{ref}',
    'GET /api/jobs',
    'GET /api/jobs/{id}',
    'GET /api/jobs/{id}/diff',
    'GET /api/jobs/{id}/events',
    'GET /api/jobs/{id}/transcript',
    'GET /api/openapi.json',
    'GET /api/overview',
    'GET /api/runs',
    'GET /api/runs/{id}',
    'GET /api/runs/{id}/chain',
    'GET /api/runs/{id}/events',
    'GET /api/runs/{id}/messages',
    'GET /api/sessions',
    'GET /api/sessions/adoptable',
    'GET /api/sessions/{id}',
    'GET /api/sessions/{id}/move',
    'GET /api/stats',
    'GET /api/status',
    'GET /api/tokens',
    'GET /api/trust',
    'GET /api/trust/decisions',
    'GET /api/watches',
    'GET /api/watches/{id}',
    'GET /api/watches/{id}/cycles',
    'PATCH /api/conversations/{id}',
    'PATCH /api/conversations/{id}/messages/{mid}',
    'PATCH /api/jobs/{id}',
    'PATCH /api/watches/{id}',
    'POST /api/conversations',
    'POST /api/conversations/{id}/fork',
    'POST /api/conversations/{id}/messages/{mid}/retry',
    'POST /api/conversations/{id}/turns',
    'POST /api/conversations/{id}/warm',
    'POST /api/cycles/{id}/cancel',
    'POST /api/followups',
    'POST /api/hooks/{watch}',
    'POST /api/jobs',
    'POST /api/jobs/{id}/cancel',
    'POST /api/jobs/{id}/restore',
    'POST /api/jobs/{id}/retry',
    'POST /api/jobs/{id}/rewind',
    'POST /api/notifications/test',
    'POST /api/prune',
    'POST /api/runs',
    'POST /api/runs/{id}/approval',
    'POST /api/runs/{id}/cancel',
    'POST /api/runs/{id}/continue',
    'POST /api/runs/{id}/messages',
    'POST /api/runs/{id}/tool-result',
    'POST /api/sessions/adopt',
    'POST /api/sessions/import',
    'POST /api/sessions/{id}/export',
    'POST /api/sessions/{id}/fork',
    'POST /api/sessions/{id}/move',
    'POST /api/shutdown',
    'POST /api/sign-in',
    'POST /api/sign-in-links',
    'POST /api/sign-out',
    'POST /api/tokens',
    'POST /api/tokens/{id}/rotate',
    'POST /api/trust/decisions',
    'POST /api/watches',
    'POST /api/watches/{id}/pause',
    'POST /api/watches/{id}/resume',
    'POST /api/watches/{id}/trigger',
  ])
  expect(Object.keys(body.components.schemas)).toEqual(
    expect.arrayContaining([
      'Run',
      'RunDetail',
      'CreateRun',
      'ToolResult',
      'RunEvent',
      'Session',
      'Agent',
      'Conversation',
      'ConversationDetail',
      'CreateTurn',
      'RetryTurn',
      'Message',
      'Job',
      'JobDetail',
      'CreateJob',
      'UpdateJob',
      'CheckpointDiff',
      'Stats',
      'Error',
    ]),
  )
  expect(body.components.schemas.CreateRun).toMatchObject({
    required: ['prompt', 'workDir'],
    additionalProperties: false,
  })
})
