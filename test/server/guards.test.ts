import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

/** fetch does not let us choose Host. */
function send(
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port: server.port, path, method, headers }, (response) => {
      let body = ''
      response.on('data', (part) => {
        body += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }))
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

const bearer = { authorization: `Bearer ${TOKEN}` }
const codeOf = (body: string) => (JSON.parse(body) as { error: { code: string } }).error.code

describe('token', () => {
  test('only the health check goes without', async () => {
    expect((await send('/api/health', {})).status).toBe(200)
    for (const path of [
      '/api/status',
      '/api/runs',
      '/api/sessions',
      '/api/agents',
      '/api/openapi.json',
      '/api/nope',
      '/',
    ]) {
      const { status, body, headers } = await send(path, {})
      expect([path, status, codeOf(body)]).toEqual([path, 401, 'unauthorized'])
      expect(headers['www-authenticate']).toContain('Bearer')
    }
  })

  test.each([
    ['wrong', 'Bearer wrong'],
    ['a prefix of it', `Bearer ${TOKEN.slice(0, -1)}`],
    ['longer', `Bearer ${TOKEN}x`],
    ['another scheme', `Basic ${TOKEN}`],
    ['bare', TOKEN],
    ['empty', 'Bearer '],
  ])('%s is refused', async (_, authorization) => {
    const { status, body } = await send('/api/status', { authorization })
    expect(status).toBe(401)
    expect(JSON.parse(body).error.hint).toContain('Authorization: Bearer')
  })

  test('in the URL does not count', async () => {
    expect((await send(`/api/status?token=${TOKEN}`, {})).status).toBe(401)
  })

  test('the scheme is case-insensitive', async () => {
    expect((await send('/api/status', { authorization: `bearer ${TOKEN}` })).status).toBe(200)
  })
})

describe('Host', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:7717',
    'localhost:7717',
    'LOCALHOST',
    '127.8.9.1',
    '[::1]:7717',
    'reprise.internal:80',
  ])('%s is a name of the daemon', async (host) => {
    expect((await send('/api/status', { ...bearer, host })).status).toBe(200)
  })

  test.each([
    'evil.example',
    'evil.example:7717',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '169.254.169.254',
    '0.0.0.0',
    '[::ffff:1.2.3.4]',
    'localhost.',
    '127.0.0.1.',
    '2130706433',
    '0177.0.0.1',
  ])('%s is not, even with the token and for health', async (host) => {
    for (const path of ['/api/status', '/api/health']) {
      const { status, body } = await send(path, { ...bearer, host })
      expect([host, status, codeOf(body)]).toEqual([host, 403, 'forbidden-origin'])
    }
  })
})

test.each([
  ['malformed', 'Host: localhost@evil.example\r\n'],
  ['with two ports', 'Host: 127.0.0.1:7717:1\r\n'],
  ['empty', 'Host: \r\n'],
  ['missing', ''],
  ['given twice', 'Host: localhost\r\nHost: evil.example\r\n'],
])('a Host that is %s gets nowhere', async (_, host) => {
  const answer = await new Promise<string>((resolve, reject) => {
    let text = ''
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write(`GET /api/health HTTP/1.1\r\n${host}Connection: close\r\n\r\n`),
    )
    socket
      .setEncoding('utf8')
      .on('error', reject)
      .on('close', () => resolve(text))
    socket.on('data', (part) => {
      text += part
    })
  })
  expect(answer).toMatch(/^HTTP\/1\.1 40[03] /)
})

test.each([
  ['HTTP/1.0 without a Host', 'GET /api/health HTTP/1.0\r\n\r\n'],
  ['TRACE', 'TRACE /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'],
  ['CONNECT', 'CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  [
    'an address of another host',
    'GET http://evil.example/api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  ],
  ['OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'],
  [
    'two requests in one',
    'POST /api/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ],
])('%s gets nowhere', async (_, text) => {
  const answer = await new Promise<string>((resolve, reject) => {
    let received = ''
    const socket = connect(server.port, '127.0.0.1', () => socket.end(text))
    socket
      .setEncoding('utf8')
      .on('error', reject)
      .on('close', () => resolve(received))
    socket.on('data', (part) => {
      received += part
    })
  })
  expect(answer).toMatch(/^(HTTP\/1\.1 4\d\d |$)/)
  expect(answer).not.toMatch(/HTTP\/1\.1 [25]\d\d /)
})

describe('Origin', () => {
  test('our own passes', async () => {
    const host = `localhost:${server.port}`
    expect((await send('/api/status', { ...bearer, host, origin: `http://${host}` })).status).toBe(200)
  })

  test.each([
    'http://evil.example',
    'null',
    'http://localhost:1',
    'https://localhost',
    'http://localhost',
    'file://',
    '',
  ])('%s does not', async (origin) => {
    const host = `localhost:${server.port}`
    const { status, body } = await send('/api/status', { ...bearer, host, origin })
    expect([status, codeOf(body)]).toEqual([403, 'forbidden-origin'])
  })

  test('a browser that says cross-site does not', async () => {
    const { status } = await send('/api/health', { 'sec-fetch-site': 'cross-site' })
    expect(status).toBe(403)
  })

  test('a preflight is refused and no CORS header is ever sent', async () => {
    const asked = { origin: 'http://evil.example', 'access-control-request-method': 'POST' }
    const answers = [
      await send('/api/runs', asked, 'OPTIONS'),
      await send('/api/health', {}),
      await send('/api/status', bearer),
    ]
    expect(answers[0]?.status).toBe(403)
    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

test('answers are not sniffed, cached, framed or referred to, errors neither', async () => {
  for (const headers of [
    (await send('/api/status', bearer)).headers,
    (await send('/api/status', {})).headers,
  ]) {
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  }
})
