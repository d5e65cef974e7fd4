/** Callers that hold connections and streams open: they are bounded, and do not keep others out. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { connectionLimits } from '../../src/daemon/connection-limits.ts'
import { fetchOver } from '../../src/library/socket-fetch.ts'
import { listenOnSocket } from '../../src/server/listen.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

let server: ServerUnderTest
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.close()
})

/** A connection that has sent this much of a request. */
async function dial(text = ''): Promise<Socket & { ended: Promise<string> }> {
  const socket = connect(server.port, '127.0.0.1')
  sockets.push(socket)
  let received = ''
  socket.setEncoding('utf8').on('data', (part: string) => {
    received += part
  })
  const ended = new Promise<string>((resolve) => {
    socket.on('error', () => {}).on('close', () => resolve(received))
  })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  if (text) socket.write(text)
  return Object.assign(socket, { ended })
}
const HALF = 'GET /api/status HTTP/1.1\r\nHost: localhost\r\nX-Slow: '
const quick = { headersMs: 200, requestMs: 400, keepAliveMs: 200, checkMs: 50 }

describe('a connection', () => {
  test.each([
    ['nothing', ''],
    ['half of the headers', HALF],
    ['one byte', 'G'],
    [
      'half of the body',
      'POST /api/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    ],
  ])('that sends %s and no more is closed', async (_, text) => {
    server = await startServer({}, { limits: quick })
    const socket = await dial(text)
    expect(await socket.ended).toMatch(/^(HTTP\/1\.1 408 |$)/)
  })

  test('that sends a header byte by byte is closed all the same', async () => {
    server = await startServer({}, { limits: quick })
    const socket = await dial(HALF)
    const drip = setInterval(() => socket.writable && socket.write('x'), 20)
    await socket.ended
    clearInterval(drip)
  })

  test('with headers that are too large, or too many for their size, gets an error and is closed', async () => {
    server = await startServer()
    const large = await dial(
      `GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
    )
    expect(await large.ended).toMatch(/^HTTP\/1\.1 431 /)
  })

  test('that waits makes room for one that asks: whoever holds connections open does not keep others out', async () => {
    server = await startServer({}, { limits: { total: 20, perAddress: 20 } })
    const held = await Promise.all(Array.from({ length: 60 }, () => dial(HALF)))
    // More than the limit were opened, so the oldest were closed.
    await Promise.all(held.slice(0, 40).map(({ ended }) => ended))
    for (let index = 0; index < 30; index++) {
      expect((await server.call('/api/status')).status).toBe(200)
    }
  })

  test('is refused when all are at work, and works again when one has ended', async () => {
    server = await startServer({}, { limits: { total: 4, perAddress: 4 } })
    const run = server.engine.addRun()
    const streams = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const socket = await dial(
          `GET /api/runs/${run.id}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
        )
        await new Promise((resolve) => socket.once('data', resolve))
        return socket
      }),
    )
    expect(await (await dial('GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n')).ended).toMatch(
      /^HTTP\/1\.1 503 /,
    )
    streams[0]?.destroy()
    await expect.poll(async () => (await server.call('/api/status').catch(() => null))?.status).toBe(200)
  })

  test('the limit of one address is not that of all', async () => {
    server = await startServer({}, { limits: { total: 20, perAddress: 5 } })
    const held = await Promise.all(Array.from({ length: 10 }, () => dial(HALF)))
    await Promise.all(held.slice(0, 5).map(({ ended }) => ended))
    expect(held.slice(5).every(({ destroyed }) => !destroyed)).toBe(true)
  })
})

test('the Unix socket has connections of its own', async () => {
  server = await startServer({}, { limits: { total: 2, perAddress: 2 } })
  const dir = mkdtempSync(join(tmpdir(), 'reprise-limits-'))
  const path = join(dir, 's')
  const socket = await listenOnSocket(server.app, path)
  const run = server.engine.addRun()
  const headers = { authorization: `Bearer ${TOKEN}` }
  for (let index = 0; index < 2; index++) {
    await fetch(new URL(`/api/runs/${run.id}/events`, server.url), { headers })
  }
  expect((await server.call('/api/status').catch(() => null))?.status ?? 503).toBe(503)
  const over = fetchOver(() => path)
  const answer = await over(new URL('/api/status', server.url), { method: 'GET', headers })
  expect(answer.status).toBe(200)
  await answer.json()
  await socket.close()
  rmSync(dir, { recursive: true })
})

describe('streams', () => {
  test('are limited in all and for each token; one that ends makes room', async () => {
    server = await startServer({ streamLimits: { total: 3, perToken: 2 } })
    const run = server.engine.addRun()
    const path = `/api/runs/${run.id}/events`
    const headers = { authorization: `Bearer ${TOKEN}` }
    const open = () => fetch(new URL(path, server.url), { headers })
    const first = await open()
    await open()
    const { status, body, headers: shown } = await server.call(path)
    expect([status, body.error.code]).toEqual([429, 'rate-limited'])
    expect(shown.get('retry-after')).toBe('5')
    await first.body?.cancel()
    await expect.poll(async () => (await open()).status).toBe(200)
  })

  test('HEAD opens none', async () => {
    server = await startServer({ streamLimits: { total: 3, perToken: 2 } })
    const run = server.engine.addRun()
    for (let index = 0; index < 5; index++) {
      const { status } = await server.call(`/api/runs/${run.id}/events`, { method: 'HEAD' })
      expect(status).toBe(200)
    }
  })
})

test.each([
  [256, 51],
  [1024, 204],
  [20_000, 2000],
  [Number.MAX_SAFE_INTEGER, 2000],
])('with %s open files, there are %s connections', (openFiles, total) => {
  server = { close: async () => {} } as ServerUnderTest
  expect(connectionLimits(openFiles).total).toBe(total)
})
