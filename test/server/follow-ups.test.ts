/** Follow-ups over HTTP: routing, statuses, what is refused and how. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { FollowUp } from '../../src/contract/follow-up.ts'
import type { Page } from '../../src/contract/http.ts'
import { CycleId, FollowUpId, RunId, SessionId } from '../../src/contract/ids.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const all = '/api/followups'
const runId = RunId.create(new Date())
const sessionId = SessionId.create(new Date())
const good = { prompt: 'Look again.', runId, inMs: 600_000 }
const last = () => server.engine.askedOfWatches.at(-1)

test.each([
  good,
  { prompt: 'x', sessionId, at: '2027-01-01T07:00:00+01:00' },
  { prompt: 'x', sessionId, cron: '*/5 * * * *', timeZone: 'Europe/Berlin', recurring: true },
])('planned: %j', async (json) => {
  const { status, body, headers } = await server.call<FollowUp>(all, { json })
  expect([status, body.createdBy]).toEqual([201, 'person'])
  expect(headers.get('location')).toBe(`${all}/${body.id}`)
  expect(last()).toEqual({ call: 'follow-up', with: json })
})

test('listed by state, run, cycle and page; read; cancelled once', async () => {
  const cycleId = CycleId.create(new Date())
  const other = RunId.create(new Date())
  const one = server.engine.addFollowUp({ runId: other, cycleId })
  server.engine.addFollowUp({ runId: other, state: 'fired' })
  const ids = async (query: string) =>
    (await server.call<Page<FollowUp>>(`${all}?${query}`)).body.items.map(({ id }) => id)
  expect(await ids(`runId=${other}&state=planned`)).toEqual([one.id])
  expect(await ids(`cycleId=${cycleId}`)).toEqual([one.id])
  expect((await server.call<Page<FollowUp>>(`${all}?limit=1&runId=${other}`)).body.nextCursor).toBe('more')
  expect((await server.call<FollowUp>(`${all}/${one.id}`)).body).toEqual(one)
  const cancelled = await server.call<FollowUp>(`${all}/${one.id}`, { method: 'DELETE' })
  expect([cancelled.status, cancelled.body.state]).toEqual([200, 'cancelled'])
  const again = await server.call(`${all}/${one.id}`, { method: 'DELETE' })
  expect([again.status, again.body.error.code]).toEqual([409, 'conflict'])
})

describe('refused', () => {
  test.each<[unknown, string]>([
    [{ runId, inMs: 1000 }, 'prompt: expected string, got nothing'],
    [{ ...good, prompt: '\n' }, 'prompt: expected a prompt that is not empty'],
    [{ ...good, prompt: 'x'.repeat(100_001) }, 'prompt: too big'],
    [{ prompt: 'x', inMs: 1000 }, 'expected either runId or sessionId'],
    [{ ...good, sessionId }, 'expected either runId or sessionId'],
    [{ ...good, runId: sessionId }, 'runId: expected a run id like run_01J…'],
    [{ prompt: 'x', runId }, 'expected one of at, inMs and cron'],
    [{ ...good, cron: '* * * * *' }, 'expected one of at, inMs and cron'],
    [{ ...good, inMs: 10 }, 'inMs: too small'],
    [{ ...good, inMs: 1e15 }, 'inMs: too big'],
    [{ prompt: 'x', runId, at: 'tomorrow' }, 'at: '],
    [{ ...good, recurring: true }, 'recurring and timeZone require cron'],
    [{ ...good, later: true }, 'later: unknown'],
  ])('%j', async (json, expected) => {
    const before = server.engine.askedOfWatches.length
    const { status, body } = await server.call(all, { json })
    expect([status, body.error.code]).toEqual([400, 'bad-request'])
    expect(body.error.message).toContain(expected)
    expect(server.engine.askedOfWatches).toHaveLength(before)
  })

  test.each(['state=due', 'runId=job_1', 'cycleId=1', 'limit=0', 'sort=up'])('?%s', async (query) => {
    expect((await server.call(`${all}?${query}`)).status).toBe(400)
  })

  test.each(['run_01J00000000000000000000000', 'fup_', '%00'])('%s is not a follow-up', async (id) => {
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await server.call(`${all}/${id}`, { method })
      expect([status, body.error.message]).toEqual([400, 'id: expected a follow-up id like fup_01J…'])
    }
  })

  test('one that was never planned', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status } = await server.call(`${all}/${FollowUpId.create(new Date())}`, { method })
      expect(status).toBe(404)
    }
  })
})

test('the client has a call for each', async () => {
  const client = createClient({ url: server.url, token: TOKEN })
  const { id } = await client.createFollowUp(good)
  expect((await client.listFollowUps({ runId, state: 'planned' })).items.map((one) => one.id)).toContain(id)
  expect((await client.getFollowUp(id)).prompt).toBe(good.prompt)
  expect((await client.cancelFollowUp(id)).state).toBe('cancelled')
})
