import { expect, test } from 'vitest'
import { nextPageSize } from '../../src/core/page-size.ts'
import { createApp } from '../../src/server/app.ts'
import { listen } from '../../src/server/listen.ts'
import { startServer } from './daemon-double.ts'
import { createEngineDouble } from './engine-double.ts'

const app = createApp({
  engine: createEngineDouble(),
  token: 'x',
  version: '0',
  startedAt: '',
  pid: 0,
  home: '',
  isHomeInPlace: () => true,
  url: () => '',
  simulatorUrl: null,
  allowedHosts: [],
  log: { error: () => {} },
  onShutdown: () => {},
})

test('a port that is taken is named, with what to do', async () => {
  const first = await startServer()
  await expect(listen(app, { host: '127.0.0.1', port: first.port })).rejects.toMatchObject({
    code: 'port-taken',
    message: `127.0.0.1:${first.port} is used by another program`,
    hint: expect.stringContaining('REPRISE_PORT'),
  })
  await first.close()
})

test('an address that is not of this machine is a matter of configuration', async () => {
  await expect(listen(app, { host: '192.0.2.1', port: 0 })).rejects.toMatchObject({
    code: 'config-invalid',
    message: expect.stringContaining('server.host'),
  })
})

test('IPv6 addresses make proper URLs', async () => {
  const server = await listen(app, { host: '::1', port: 0 })
  expect(server.url).toBe(`http://[::1]:${server.port}`)
  expect((await fetch(`${server.url}/api/health`)).status).toBe(200)
  await server.close()
})

test('closing waits for answers, not for idle connections', async () => {
  const server = await startServer()
  await server.call('/api/status')
  const answer = server.call('/api/status')
  const [{ status }] = await Promise.all([answer, answer.then(() => server.close())])
  expect(status).toBe(200)
  await expect(fetch(server.url)).rejects.toThrow()
})

test('pages shrink for large events and grow for small ones', () => {
  expect(nextPageSize(8, 1000)).toBe(16)
  expect(nextPageSize(256, 1000)).toBe(256)
  expect(nextPageSize(256, 256 * 2 ** 20)).toBe(1)
  expect(nextPageSize(1, 2 ** 30)).toBe(1)
})
