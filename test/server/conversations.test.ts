/** Conversations, turns, messages and totals over HTTP: routing, statuses, what is refused and how. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { Conversation, ConversationDetail, Message } from '../../src/contract/conversation.ts'
import type { Page } from '../../src/contract/http.ts'
import { ConversationId, MessageId } from '../../src/contract/ids.ts'
import type { Run } from '../../src/contract/run.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const path = (id: string, rest = '') => `/api/conversations/${id}${rest}`
const say = (id: string, text: string, headers: Record<string, string> = {}) =>
  server.call<{ run: Run }>(path(id, '/turns'), { json: { text }, headers })
/** A conversation in which `texts` were said. */
async function talk(...texts: string[]): Promise<ConversationDetail> {
  const { id } = server.engine.addConversation()
  for (const text of texts) await say(id, text)
  return server.engine.getConversation(id)
}

test('a conversation is created, listed, read, changed and deleted', async () => {
  const json = { workDir: '/tmp', title: 'A title', instructions: 'Be brief.', historyScope: 'agent' }
  const created = await server.call<Conversation>('/api/conversations', { json })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({ ...json, agent: 'claude', turnCount: 0 })
  const { id } = created.body
  expect(created.headers.get('location')).toBe(path(id))

  server.engine.addConversation()
  const page = await server.call<Page<Conversation>>('/api/conversations?limit=1')
  expect(page.body).toMatchObject({ items: [{ turnCount: 0 }], nextCursor: 'more' })

  expect((await server.call(path(id))).body).toMatchObject({ id, messages: [], agents: [] })
  const patch = { method: 'PATCH', json: { title: 'Another', instructions: null } }
  const changed = await server.call(path(id), patch)
  expect(changed).toMatchObject({ status: 200, body: { title: 'Another', instructions: null, messages: [] } })

  const gone = await server.call(path(id), { method: 'DELETE' })
  expect([gone.status, gone.body]).toEqual([204, null])
  expect((await server.call(path(id))).status).toBe(404)
  expect((await server.call(path(id), { method: 'DELETE' })).status).toBe(404)
})

test('a turn is accepted once per Idempotency-Key', async () => {
  const { id } = server.engine.addConversation()
  const headers = { 'idempotency-key': 'turn-1' }
  const first = await say(id, 'hello', headers)
  const again = await say(id, 'hello', headers)
  expect([first.status, again.status]).toEqual([202, 200])
  expect(first.body.run).toMatchObject({ prompt: 'hello', conversationId: id, turn: 1 })
  expect(again.body.run.id).toBe(first.body.run.id)
  expect(first.headers.get('location')).toBe(`/api/runs/${first.body.run.id}`)
  expect((await server.engine.getConversation(id)).messages).toHaveLength(1)
})

test('a message is edited; it is removed with everything after it', async () => {
  const { id, messages } = await talk('one', 'two', 'three')
  const [, second] = messages
  const edited = await server.call<Message>(path(id, `/messages/${second?.id}`), {
    method: 'PATCH',
    json: { text: 'zwei' },
  })
  expect(edited.status).toBe(200)
  expect(edited.body).toMatchObject({ id: second?.id, blocks: [{ type: 'text', text: 'zwei' }] })
  expect(edited.body.editedAt).not.toBeNull()
  const removed = await server.call(path(id, `/messages/${second?.id}`), { method: 'DELETE' })
  expect([removed.status, removed.body]).toEqual([200, { removed: 2 }])
})

describe('retry', () => {
  const retry = async (init: RequestInit & { json?: unknown }) => {
    const { id, messages } = await talk('one')
    const answer = await server.call<{ run: Run }>(path(id, `/messages/${messages[0]?.id}/retry`), init)
    return answer.status === 202 ? { status: 202, run: answer.body.run } : answer
  }
  const asJson = { 'content-type': 'application/json' }

  test('takes a body, an empty one or none', async () => {
    expect(await retry({ json: { model: 'opus' } })).toMatchObject({ status: 202, run: { model: 'opus' } })
    expect(await retry({ json: {} })).toMatchObject({ status: 202, run: { turn: 1 } })
    expect(await retry({ method: 'POST' })).toMatchObject({ status: 202 })
    expect(await retry({ method: 'POST', headers: asJson })).toMatchObject({ status: 202 })
  })

  test('does not pass by a body it cannot read', async () => {
    const wrongType = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{"model":"opus"}' }
    expect(await retry(wrongType)).toMatchObject({ status: 415, body: { error: { code: 'bad-request' } } })
    expect(await retry({ method: 'POST', headers: asJson, body: '{' })).toMatchObject({
      status: 400,
      body: { error: { message: 'body: expected valid JSON' } },
    })
    expect(await retry({ json: { text: 'x' } })).toMatchObject({
      status: 400,
      body: { error: { message: 'text: unknown field' } },
    })
  })

  test('once per Idempotency-Key', async () => {
    const { id, messages } = await talk('one')
    const init = { method: 'POST', headers: { 'idempotency-key': 'retry-1' } }
    const statuses: number[] = []
    for (let time = 0; time < 2; time++)
      statuses.push((await server.call(path(id, `/messages/${messages[0]?.id}/retry`), init)).status)
    expect(statuses).toEqual([202, 200])
  })
})

test('totals', async () => {
  const { status, body } = await server.call('/api/stats')
  expect(status).toBe(200)
  expect(body).toMatchObject({ runs: expect.any(Number), promptTokensSaved: 0 })
})

describe('bad input', () => {
  const good = { workDir: '/tmp' }
  test.each<[string, unknown, string]>([
    ['no directory', {}, 'workDir: expected string, got nothing'],
    ['NUL in the directory', { workDir: '/a\0b' }, 'workDir: expected a path without NUL'],
    ['an empty title', { ...good, title: ' ' }, 'title: expected a text that is not empty'],
    ['a long title', { ...good, title: 'x'.repeat(201) }, 'title: too big'],
    ['an unknown scope', { ...good, historyScope: 'all' }, 'historyScope: expected one of'],
    ['an unknown field', { ...good, model: 'opus' }, 'model: unknown'],
    ['no object', null, 'body: expected object'],
  ])('of a conversation: %s', async (_, json, expected) => {
    const { status, body } = await server.call('/api/conversations', { json })
    expect([status, body.error.code]).toEqual([400, 'bad-request'])
    expect(body.error.message).toContain(expected)
  })

  test.each<[string, unknown, string]>([
    ['nothing', {}, 'text: expected string, got nothing'],
    ['an empty text', { text: ' \n' }, 'text: expected a text that is not empty'],
    ['a model that looks like an option', { text: 'x', model: '--help' }, 'model: expected a model name'],
    ['a mode that does not exist', { text: 'x', permissions: 'all' }, 'permissions: expected one of'],
    ['an unknown field', { text: 'x', sessionId: 'y' }, 'sessionId: unknown'],
    ['a word for a yes', { text: 'x', forceFreshSession: 'yes' }, 'forceFreshSession: expected boolean'],
  ])('of a turn: %s', async (_, json, expected) => {
    const { id } = server.engine.addConversation()
    const { status, body } = await server.call(path(id, '/turns'), { json })
    expect([status, body.error.code]).toEqual([400, 'bad-request'])
    expect(body.error.message).toContain(expected)
    expect((await server.engine.getConversation(id)).messages).toEqual([])
  })

  test.each(['', 'a b', 'x'.repeat(256)])('Idempotency-Key %j of a turn', async (key) => {
    const { id } = server.engine.addConversation()
    expect((await say(id, 'x', { 'idempotency-key': key })).status).toBe(400)
  })

  test('of an edit, and of a change', async () => {
    const { id, messages } = await talk('one')
    for (const [where, json] of [
      [`/messages/${messages[0]?.id}`, { text: '' }],
      [`/messages/${messages[0]?.id}`, {}],
      ['', { title: '' }],
      ['', { workDir: '/else\0where' }],
      ['', { agent: 'other' }],
    ] as const) {
      expect((await server.call(path(id, where), { method: 'PATCH', json })).status).toBe(400)
    }
  })

  test.each(['run_01J00000000000000000000000', 'cnv_', '%00', 'x'.repeat(4000)])(
    '%s is not a conversation',
    async (id) => {
      for (const [rest, init] of [
        ['', {}],
        ['', { method: 'DELETE' }],
        ['', { method: 'PATCH', json: { title: 'x' } }],
        ['/turns', { json: { text: 'x' } }],
        [`/messages/${MessageId.create(new Date())}/retry`, { method: 'POST' }],
      ] as const) {
        const { status, body } = await server.call(path(id, rest), init)
        expect([status, body.error.message]).toEqual([400, 'id: expected a conversation id like cnv_01J…'])
      }
    },
  )

  test('what is not a message, and what is not there', async () => {
    const { id } = await talk('one')
    const odd = await server.call(path(id, '/messages/last'), { method: 'DELETE' })
    expect([odd.status, odd.body.error.message]).toEqual([400, 'mid: expected a message id like msg_01J…'])
    const unknown = MessageId.create(new Date())
    for (const [where, init] of [
      [path(id, `/messages/${unknown}`), { method: 'DELETE' }],
      [path(id, `/messages/${unknown}`), { method: 'PATCH', json: { text: 'x' } }],
      [path(id, `/messages/${unknown}/retry`), { method: 'POST' }],
      [path(ConversationId.create(new Date()), '/turns'), { json: { text: 'x' } }],
    ] as const) {
      const { status, body } = await server.call(where, init)
      expect([status, body.error.code]).toEqual([404, 'not-found'])
    }
  })

  test('other methods, and an agent that is not there', async () => {
    const { id } = server.engine.addConversation()
    const { status, headers } = await server.call(path(id), { method: 'PUT' })
    expect([status, headers.get('allow')]).toEqual([405, 'GET, PATCH, DELETE'])
    const refused = await server.call('/api/conversations', { json: { ...good, agent: 'nobody' } })
    expect([refused.status, refused.body.error.code]).toEqual([422, 'agent-unknown'])
  })
})

test('the client has a call for each', async () => {
  const client = createClient({ url: server.url, token: TOKEN })
  const { id } = await client.createConversation({ workDir: '/tmp' })
  expect((await client.listConversations({ limit: 1 })).items.map((item) => item.id)).toEqual([id])
  expect((await client.updateConversation(id, { title: 'T' })).title).toBe('T')
  expect(await client.planMove(id, '/srv/other')).toMatchObject({
    from: '/tmp',
    sessions: [{ resumes: false }],
  })
  expect((await client.getConversation(id)).workDir).toBe('/tmp')
  const moved = await client.updateConversation(id, { workDir: '/srv/renamed' })
  expect(moved).toMatchObject({
    workDir: '/srv/renamed',
    move: { from: '/tmp', sessions: [{ resumes: true }] },
  })
  const key = { idempotencyKey: 'client-1' }
  const run = await client.createTurn(id, { text: 'hello' }, key)
  expect((await client.createTurn(id, { text: 'hello' }, key)).id).toBe(run.id)
  const [message] = (await client.getConversation(id)).messages
  expect((await client.editMessage(id, message!.id, 'other')).blocks).toEqual([
    { type: 'text', text: 'other' },
  ])
  const again = await client.retryFrom(id, message!.id)
  expect(again).toMatchObject({ conversationId: id, turn: 1 })
  expect((await client.retryFrom(id, message!.id, { model: 'opus' })).model).toBe('opus')
  expect(await client.truncate(id, message!.id)).toEqual({ removed: 1 })
  expect(await client.deleteConversation(id)).toBeUndefined()
  await expect(client.getConversation(id)).rejects.toMatchObject({ code: 'not-found' })
  expect((await client.stats()).runs).toBeGreaterThan(0)
})
