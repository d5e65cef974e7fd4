/** Watches and cycles over HTTP: routing, statuses, what is refused and how. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { Cycle } from '../../src/contract/cycle.ts'
import type { Page } from '../../src/contract/http.ts'
import { CycleId, WatchId } from '../../src/contract/ids.ts'
import type { Triggered, Watch } from '../../src/contract/watch.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const path = (id: string, rest = '') => `/api/watches/${id}${rest}`
const good = { name: 'media', prompt: 'Check jellyfin.', workDir: '/tmp' }
const last = () => server.engine.askedOfWatches.at(-1)

test('every field arrives as it was sent; an interval in milliseconds', async () => {
  const json = {
    ...good,
    timeZone: 'Europe/Berlin',
    jitterMs: 1000,
    agent: 'claude',
    memory: 'persistent',
    overlap: 'queue',
    maxTier: 2,
    dryRun: true,
    environment: 'A nas.',
    maxBudgetUsd: 1,
    maxDurationMs: 60_000,
    hookSecret: 'sixteen-or-more-characters',
    eventsPerHour: 6,
    dedupeMs: 0,
    renewAfterMs: 60_000,
    renewAfterCycles: 3,
    notify: ['me'],
    webhook: 'http://127.0.0.1:9/x',
    notifyFrom: 'problem',
    paused: true,
  }
  const { status, body, headers } = await server.call<Watch>('/api/watches', {
    json: { ...json, every: '1.5h' },
  })
  expect(status).toBe(201)
  expect(headers.get('location')).toBe(path(body.id))
  expect(last()).toEqual({ call: 'create', with: { ...json, everyMs: 5_400_000 } })
  expect(JSON.stringify(body)).not.toContain('sixteen-or-more')
  expect((await server.call('/api/watches', { json: good })).status).toBe(409)
})

test.each([
  [{ every: 60_000 }, { everyMs: 60_000 }],
  [{ every: '90s' }, { everyMs: 90_000 }],
  [{ everyMs: 60_000 }, { everyMs: 60_000 }],
  [{ cron: '0 7 * * *' }, { cron: '0 7 * * *' }],
  [{}, {}],
])('when: %j', async (when, asked) => {
  const { id } = server.engine.addWatch()
  await server.call(path(id), { method: 'PATCH', json: when })
  expect(last()).toMatchObject({ call: 'update', with: asked })
  expect(last()?.with).toEqual(asked)
})

test('watches are listed, and read by id and by name', async () => {
  const watch = server.engine.addWatch({ name: 'read.me-1' })
  const { body } = await server.call<Page<Watch>>('/api/watches')
  expect(body.items.map(({ id }) => id)).toContain(watch.id)
  expect(body.nextCursor).toBeNull()
  for (const ref of [watch.id, watch.name]) {
    expect((await server.call<Watch>(path(ref))).body).toEqual(watch)
  }
})

test('pausing, resuming, removing', async () => {
  const { name } = server.engine.addWatch()
  expect((await server.call<Watch>(path(name, '/pause'), { method: 'POST' })).body.state).toBe('paused')
  expect(last()).toEqual({ call: 'update', of: name, with: { paused: true } })
  expect((await server.call<Watch>(path(name, '/resume'), { method: 'POST' })).body.state).toBe('active')
  expect((await server.call(path(name), { method: 'DELETE' })).status).toBe(204)
  expect((await server.call(path(name))).status).toBe(404)
})

describe('a trigger', () => {
  test.each([
    ['started', 202],
    ['queued', 202],
    ['merged', 202],
    ['known', 200],
    ['resolved', 200],
  ] as const)('that is %s is answered with %i', async (result, expected) => {
    const { name } = server.engine.addWatch()
    const answer = { result, cycleId: null, message: 'So it is.' }
    server.engine.answerTriggers(answer)
    const { status, body } = await server.call<Triggered>(path(name, '/trigger'), {
      json: { reason: 'because', payload: [1, { a: null }] },
    })
    expect([status, body]).toEqual([expected, answer])
    expect(last()).toEqual({
      call: 'trigger',
      of: name,
      with: { reason: 'because', payload: [1, { a: null }] },
    })
  })

  test.each<[string, RequestInit]>([
    ['no body', {}],
    ['an empty one', { body: '', headers: { 'content-type': 'application/json' } }],
  ])('needs %s', async (_, init) => {
    const { name } = server.engine.addWatch()
    expect((await server.call(path(name, '/trigger'), { method: 'POST', ...init })).status).toBeLessThan(300)
    expect(last()).toEqual({ call: 'trigger', of: name, with: {} })
  })

  test('of 5 MB is refused, announced or not', async () => {
    const { name } = server.engine.addWatch()
    const text = JSON.stringify({ payload: 'x'.repeat(5 * 1024 * 1024) })
    const before = server.engine.askedOfWatches.length
    for (const body of [text, new Blob([text]).stream()]) {
      const init = { method: 'POST', body, headers: { 'content-type': 'application/json' }, duplex: 'half' }
      const answer = await server.call(path(name, '/trigger'), init as RequestInit)
      expect([answer.status, answer.body.error.message]).toEqual([413, 'body: expected at most 256 KiB'])
    }
    expect(server.engine.askedOfWatches).toHaveLength(before)
  })
})

test('cycles are listed by page, read and cancelled', async () => {
  const watch = server.engine.addWatch()
  const change = { watchId: watch.id, watch: watch.name }
  server.engine.addCycle({ ...change, state: 'ended', outcome: 'completed', costUsd: 0.1 })
  const { id } = server.engine.addCycle(change)
  const { body } = await server.call<Page<Cycle>>(path(watch.name, '/cycles?limit=1'))
  expect(body).toMatchObject({ items: [{ id }], nextCursor: 'more' })
  expect((await server.call(`/api/cycles/${id}`)).body).toMatchObject({ id, chain: null, followUps: [] })
  const cancelled = await server.call<Cycle>(`/api/cycles/${id}/cancel`, { method: 'POST' })
  expect([cancelled.status, cancelled.body.outcome]).toEqual([202, 'cancelled'])
  expect((await server.call(`/api/cycles/${id}/cancel`, { method: 'POST' })).status).toBe(409)
})

describe('refused', () => {
  test.each<[unknown, string]>([
    [{ ...good, name: 'Media' }, 'name: expected up to 63 lower-case letters'],
    [{ ...good, name: '../x' }, 'name: expected up to 63 lower-case letters'],
    [{ ...good, name: '' }, 'name: expected up to 63 lower-case letters'],
    [{ prompt: 'x', workDir: '/' }, 'name: expected string, got nothing'],
    [{ ...good, prompt: ' ' }, 'prompt: expected a prompt that is not empty'],
    [{ ...good, workDir: 'a\0b' }, 'workDir: expected a path without NUL'],
    [{ ...good, every: 'often' }, 'every: expected a duration such as 90s, 30m or 2h'],
    [{ ...good, every: '30' }, 'every: expected a duration'],
    [{ ...good, every: true }, 'every: '],
    [{ ...good, every: '1m', everyMs: 60_000 }, 'every: cannot be combined with everyMs'],
    [{ ...good, memory: 'none' }, 'memory: expected one of'],
    [{ ...good, overlap: 'both' }, 'overlap: expected one of'],
    [{ ...good, maxTier: 0 }, 'maxTier: too small'],
    [{ ...good, hookSecret: 'short' }, 'hookSecret: expected 16 to 255 visible ASCII characters'],
    [{ ...good, webhook: 'file:///etc/passwd' }, 'webhook: expected an http or https address'],
    [{ ...good, evry: '1m' }, 'evry: unknown'],
    [[], 'body: expected object'],
  ])('a watch %j', async (json, expected) => {
    const before = server.engine.askedOfWatches.length
    const { status, body } = await server.call('/api/watches', { json })
    expect([status, body.error.code]).toEqual([400, 'bad-request'])
    expect(body.error.message).toContain(expected)
    expect(server.engine.askedOfWatches).toHaveLength(before)
  })

  test.each<[unknown, string]>([
    [{ every: 'often' }, 'every: expected a duration'],
    [{ name: 'other' }, 'name: unknown'],
    [{ paused: 'yes' }, 'paused: expected boolean'],
    [null, 'body: expected object'],
  ])('a change to %j', async (json, expected) => {
    const { id } = server.engine.addWatch()
    const { status, body } = await server.call(path(id), { method: 'PATCH', json })
    expect(status).toBe(400)
    expect(body.error.message).toContain(expected)
  })

  test.each<[unknown, string]>([
    [{ reason: 'x'.repeat(2001) }, 'reason: too big'],
    [{ reasons: 'x' }, 'reasons: unknown'],
    ['now', 'body: expected object'],
  ])('a trigger with %j', async (json, expected) => {
    const { id } = server.engine.addWatch()
    const { status, body } = await server.call(path(id, '/trigger'), { json })
    expect(status).toBe(400)
    expect(body.error.message).toContain(expected)
  })

  const everywhere = [
    ['', {}],
    ['', { method: 'PATCH', json: { paused: true } }],
    ['', { method: 'DELETE' }],
    ['/trigger', { method: 'POST' }],
    ['/pause', { method: 'POST' }],
    ['/resume', { method: 'POST' }],
    ['/cycles', {}],
  ] as const

  test.each([CycleId.create(new Date()), 'wch_X', 'Media', '%00', '-x', 'a%2Fb', 'x'.repeat(64)])(
    '%s is not a watch',
    async (id) => {
      for (const [rest, init] of everywhere) {
        const { status, body } = await server.call(path(id, rest), init)
        expect([status, body.error.message]).toEqual([
          400,
          "id: expected a watch's name, or its id like wch_01J…",
        ])
      }
    },
  )

  test('one that was never made', async () => {
    for (const id of ['nothing', WatchId.create(new Date())]) {
      for (const [rest, init] of everywhere) {
        const { status, body } = await server.call(path(id, rest), init)
        expect([status, body.error.code]).toEqual([404, 'not-found'])
      }
    }
  })

  test.each(['run_01J00000000000000000000000', 'cyc_', '1', 'x'.repeat(4000)])(
    '%s is not a cycle',
    async (id) => {
      for (const [rest, init] of [
        ['', {}],
        ['/cancel', { method: 'POST' }],
      ] as const) {
        const { status, body } = await server.call(`/api/cycles/${id}${rest}`, init)
        expect([status, body.error.message]).toEqual([400, 'id: expected a cycle id like cyc_01J…'])
      }
    },
  )

  test('cycles that never were, and queries that mean nothing', async () => {
    expect((await server.call(`/api/cycles/${CycleId.create(new Date())}`)).status).toBe(404)
    const { id } = server.engine.addWatch()
    expect((await server.call(path(id, '/cycles?limit=0'))).status).toBe(400)
    expect((await server.call(path(id, '/cycles?state=ended'))).status).toBe(400)
  })
})

test('the client has a call for each', async () => {
  const client = createClient({ url: server.url, token: TOKEN })
  server.engine.answerTriggers({ result: 'started', cycleId: null, message: 'Begins.' })
  const { id, name } = await client.createWatch({ ...good, name: 'by-client', every: '30m' })
  expect((await client.listWatches()).map((watch) => watch.id)).toContain(id)
  expect((await client.getWatch(name)).id).toBe(id)
  await client.updateWatch(name, { every: '1h' })
  expect(last()).toMatchObject({ with: { everyMs: 3_600_000 } })
  expect((await client.pauseWatch(name)).state).toBe('paused')
  expect((await client.resumeWatch(name)).state).toBe('active')
  expect(await client.triggerWatch(name)).toMatchObject({ result: 'started' })
  await client.triggerWatch(name, { reason: 'why' })
  expect(last()).toEqual({ call: 'trigger', of: name, with: { reason: 'why' } })
  await client.sendEvents(name, { title: 'disk' })
  expect(last()).toEqual({ call: 'receive', of: name, with: { title: 'disk' } })
  const cycle = server.engine.addCycle({ watchId: id })
  expect((await client.listCycles(name, { limit: 5 })).items.map((one) => one.id)).toEqual([cycle.id])
  expect((await client.getCycle(cycle.id)).events).toEqual([])
  expect((await client.cancelCycle(cycle.id)).outcome).toBe('cancelled')
  await client.removeWatch(name)
  await expect(client.getWatch(name)).rejects.toMatchObject({ code: 'not-found' })
})
