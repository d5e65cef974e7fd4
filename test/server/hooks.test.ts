/** Events of other systems: who may send them, and what is refused before it is processed. */
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ErrorBody, RepriseError } from '../../src/contract/errors.ts'
import { WatchId } from '../../src/contract/ids.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

const SECRET = 'the-secret-of-one-watch'
const NAME = 'media'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
  server.engine.addWatch({ name: NAME, hookSecret: SECRET })
  server.engine.addWatch({ name: 'closed' })
})
afterAll(() => server.close())
beforeEach(() => {
  server.engine.answerTriggers({ result: 'started', cycleId: null, message: 'A cycle begins.' })
  server.engine.askedOfWatches.splice(0)
})

const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})
const signed = (secret: string, body: string) => ({
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
})

async function send(
  watch: string,
  headers: Record<string, string>,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream = '{"title":"disk"}',
) {
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const response = await fetch(new URL(`/api/hooks/${watch}`, server.url), init)
  return { status: response.status, headers: response.headers, body: (await response.json()) as ErrorBody }
}

const ALERT = JSON.stringify({
  version: '4',
  groupKey: '{}:{alertname="Down"}',
  status: 'firing',
  receiver: 'reprise',
  groupLabels: { alertname: 'Down' },
  alerts: [{ status: 'firing', labels: { alertname: 'Down' }, fingerprint: 'abc' }],
})

describe('accepted', () => {
  test.each([
    ['the secret as a bearer token', bearer(SECRET)],
    ['the secret as a password', basic('alertmanager', SECRET)],
    ['a signature of the body', signed(SECRET, ALERT)],
    ["the daemon's token", bearer(TOKEN)],
  ])('with %s', async (_, headers) => {
    const { status, body } = await send(NAME, headers, ALERT)
    expect([status, body]).toEqual([202, { result: 'started', cycleId: null, message: 'A cycle begins.' }])
    expect(server.engine.askedOfWatches).toEqual([{ call: 'receive', of: NAME, with: JSON.parse(ALERT) }])
  })

  test('by the id of the watch, whatever type is said, and with any JSON', async () => {
    const { id } = await server.engine.getWatch(NAME)
    for (const type of ['application/json', 'text/plain', 'application/cloudevents+json']) {
      expect((await send(id, { ...bearer(SECRET), 'content-type': type }, '[null]')).status).toBe(202)
    }
    expect(server.engine.askedOfWatches.at(-1)?.with).toEqual([null])
  })

  test.each(['known', 'resolved'] as const)('with 200 if it is %s', async (result) => {
    server.engine.answerTriggers({ result, cycleId: null, message: 'Nothing to do.' })
    expect((await send(NAME, bearer(SECRET))).status).toBe(200)
  })
})

describe('refused', () => {
  const same = (answer: { status: number; body: ErrorBody }) => [answer.status, answer.body]

  test('without anything shown, whether there is such a watch or not', async () => {
    const [known, unknown] = [await send(NAME, {}), await send('nothing', {})]
    expect([known.status, known.body.error.code, known.body.error.message]).toEqual([
      401,
      'unauthorized',
      'the secret is missing',
    ])
    expect(known.headers.get('www-authenticate')).toContain('Bearer')
    expect(same(unknown)).toEqual(same(known))
    expect(server.engine.askedOfWatches).toEqual([])
  })

  test.each([
    ['a wrong bearer token', bearer('wrong-secret-of-a-watch')],
    ['a part of it', bearer(SECRET.slice(0, -1))],
    ['a wrong password', basic('alertmanager', 'wrong')],
    ['no password', basic('alertmanager', '')],
    ["the daemon's token as a password", basic('x', TOKEN)],
    ['a signature with another secret', signed('another-secret-123', '{"title":"disk"}')],
    ['a signature of another body', signed(SECRET, '{"title":"disc"}')],
    ['something else', { authorization: `Digest ${SECRET}`, 'x-hub-signature-256': 'sha1=0' }],
  ])('with %s, whether there is such a watch or not', async (_, headers) => {
    const [known, unknown] = [await send(NAME, headers), await send('nothing', headers)]
    expect([known.status, known.body.error.code]).toEqual([401, 'unauthorized'])
    expect(same(unknown)).toEqual(same(known))
    expect(same(await send('closed', headers))).toEqual(same(known))
    expect(server.engine.askedOfWatches).toEqual([])
  })

  test('only those who show the token learn that there is no such watch', async () => {
    for (const watch of ['nothing', WatchId.create(new Date())]) {
      expect((await send(watch, bearer(TOKEN))).status).toBe(404)
      expect((await send(watch, bearer(SECRET))).status).toBe(401)
    }
    expect((await send('closed', bearer(TOKEN))).status).toBe(202)
  })

  test('the secret allows nothing else, and is not valid for another watch', async () => {
    server.engine.addWatch({ name: 'other', hookSecret: 'the-secret-of-another-one' })
    expect((await send('other', bearer(SECRET))).status).toBe(401)
    for (const [path, method] of [
      ['/api/watches', 'GET'],
      [`/api/watches/${NAME}`, 'GET'],
      [`/api/watches/${NAME}/trigger`, 'POST'],
      [`/api/hooks/${NAME}`, 'GET'],
      [`/api/hooks/${NAME}`, 'DELETE'],
      [`/api/hooks/${NAME}/x`, 'POST'],
      ['/api/hooks', 'POST'],
      ['/api/hooks/', 'POST'],
      ['/api/hooks/../runs', 'POST'],
      ['/api/hooks/%2e%2e/runs', 'POST'],
      [`//api/hooks/${NAME}`, 'POST'],
    ] as const) {
      const url = `${server.url}${path}`
      for (const headers of [bearer(SECRET), {}]) {
        expect([path, (await fetch(url, { method, headers })).status]).toEqual([path, 401])
      }
    }
  })

  test.each(['', '{', 'status=firing', 'undefined', '\u0000'])('%j is not JSON', async (text) => {
    const { status, body } = await send(NAME, bearer(SECRET), text)
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      'bad-request',
      'body: expected valid JSON',
    ])
  })

  test('bytes that are not text', async () => {
    expect((await send(NAME, bearer(SECRET), new Uint8Array([0x22, 0xff, 0xfe, 0x22]))).status).toBe(400)
    expect((await send(NAME, {}, new Uint8Array([0xff]))).status).toBe(401)
  })

  test.each(['Media', '%00', 'x'.repeat(64)])('%s is not a watch', async (watch) => {
    const { status, body } = await send(watch, bearer(TOKEN))
    expect(status).toBe(400)
    expect(body.error.message).toContain("watch: expected a watch's name, or its id like wch_01J…")
    expect((await send(watch, {})).status).toBe(401)
  })

  test('5 MB, announced or not; exactly 256 KiB is taken', async () => {
    const text = JSON.stringify('x'.repeat(5 * 1024 * 1024))
    for (const body of [text, new Blob([text]).stream()]) {
      const answer = await send(NAME, bearer(SECRET), body)
      expect([answer.status, answer.body.error.code]).toEqual([413, 'payload-too-large'])
      expect(answer.body.error.message).toBe('body: expected at most 256 KiB')
    }
    expect((await send(NAME, {}, text)).status).toBe(401)
    expect(server.engine.askedOfWatches).toEqual([])
    const limit = JSON.stringify('x'.repeat(256 * 1024 - 2))
    expect((await send(NAME, bearer(SECRET), limit)).status).toBe(202)
  })

  test('5 MB are refused before they are read', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1', () =>
        socket.write(
          `POST /api/hooks/${NAME} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${SECRET}\r\nContent-Length: 5000000\r\n\r\n{`,
        ),
      )
      socket.once('data', (data) => resolve(data.toString())).once('error', reject)
      socket.once('data', () => socket.destroy())
    })
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })

  test.each([
    [{ retryAfterMs: 59_001 }, '60'],
    [{ retryAfterMs: 0 }, '0'],
    [{ retryAfterMs: 'soon' }, null],
    [undefined, null],
  ])('too many, with %j: says when to retry', async (details, expected) => {
    server.engine.answerTriggers(new RepriseError('rate-limited', 'too many events', { details }))
    const { status, body, headers } = await send(NAME, bearer(SECRET))
    expect([status, body.error.code, headers.get('retry-after')]).toEqual([429, 'rate-limited', expected])
  })

  test('what comes from a page of another site, or for another host', async () => {
    const origin = { ...bearer(SECRET), origin: 'http://evil.example' }
    expect((await send(NAME, origin)).status).toBe(403)
  })
})
