import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { RepriseError } from '../../src/contract/errors.ts'
import type { RunEvent } from '../../src/contract/events.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'
import { createEngineDouble } from './engine-double.ts'

const servers: { close: () => unknown }[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})
async function start(...args: Parameters<typeof startServer>): Promise<ServerUnderTest> {
  const server = await startServer(...args)
  servers.push(server)
  return server
}

async function rawServer(handler: Parameters<typeof createServer>[1]): Promise<string> {
  const server: Server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push({ close: () => server.close().closeAllConnections() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const text = (value: string) => ({ type: 'text-delta', text: value }) as const

test('calls every route', async () => {
  const { url, engine } = await start()
  const client = createClient({ url, token: TOKEN })
  expect((await client.health()).status).toBe('ok')
  expect((await client.status()).url).toBe(url)
  const run = await client.createRun({ prompt: 'x', workDir: '/tmp' }, { idempotencyKey: 'k' })
  expect((await client.createRun({ prompt: 'x', workDir: '/tmp' }, { idempotencyKey: 'k' })).id).toBe(run.id)
  expect((await client.listRuns({ state: 'running', limit: 5 })).items).toHaveLength(1)
  expect((await client.getRun(run.id)).id).toBe(run.id)
  await client.answer(run.id, { toolUseId: 't', decision: 'allow' })
  expect(engine.answers).toHaveLength(1)
  expect((await client.cancelRun(run.id)).id).toBe(run.id)
  expect((await client.listSessions()).items).toHaveLength(1)
  expect((await client.getSession(engine.session.agentSessionId)).id).toBe(engine.session.id)
  expect(await client.listAgents()).toEqual([])
  expect(await client.shutdown()).toEqual({ pid: process.pid })
})

describe('errors', () => {
  test("the server's code, message, hint and details", async () => {
    const { url } = await start()
    await expect(createClient({ url, token: 'wrong' }).status()).rejects.toMatchObject({
      code: 'unauthorized',
      hint: expect.stringContaining('Bearer'),
    })
    await expect(createClient({ url, token: TOKEN }).getRun('job_1')).rejects.toMatchObject({
      code: 'bad-request',
      details: { problems: [{ field: 'id' }] },
    })
  })

  test('of a connection that the server has closed meanwhile: only what reads is sent again', async () => {
    const served: string[] = []
    let answers = true
    const url = await rawServer((request, response) => {
      served.push(`${request.method}`)
      if (answers) response.end(JSON.stringify({ items: [], nextCursor: null }))
      else request.socket.destroy()
      answers = !answers
    })
    const client = createClient({ url, token: TOKEN })
    await client.listRuns()
    expect((await client.listRuns()).items).toEqual([])
    await expect(client.createRun({ prompt: 'x', workDir: '/tmp' })).rejects.toMatchObject({
      code: 'daemon-unreachable',
    })
    expect(served).toEqual(['GET', 'GET', 'GET', 'POST'])
  })

  test('what is not a number is not sent: as null it could mean that there is no limit', async () => {
    const { url, engine } = await start()
    const client = createClient({ url, token: TOKEN })
    const updated = client.updateJob('job_1', { maxBudgetUsd: Number('5,00') })
    await expect(updated).rejects.toMatchObject({
      code: 'bad-request',
      message: 'maxBudgetUsd is not a number',
    })
    expect(engine.answers).toEqual([])
  })

  test('no daemon there', async () => {
    const { url, close } = await startServer()
    await close()
    const error = await createClient({ url, token: TOKEN })
      .status()
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RepriseError)
    expect(error).toMatchObject({ code: 'daemon-unreachable', hint: expect.stringContaining('reprise up') })
  })

  test('another program there', async () => {
    const url = await rawServer((_, response) => response.writeHead(502).end('<html>'))
    await expect(createClient({ url, token: TOKEN }).status()).rejects.toMatchObject({
      code: 'internal',
      hint: expect.stringContaining('Another program'),
    })
  })
})

describe('events', () => {
  test('continue across restarts, also on another port: each once, in order', async () => {
    const engine = createEngineDouble()
    const { id } = engine.addRun()
    engine.emit(id, text('1'), text('2'))
    let server = await start({}, { engine })
    let retries = 0
    const client = createClient({
      url: server.url,
      token: TOKEN,
      locate: async () => ({ url: server.url, token: TOKEN }),
    })
    const seen: number[] = []
    for await (const event of client.events(id, { onRetry: () => retries++ })) {
      seen.push(event.seq)
      if (event.seq === 2 || event.seq === 4) {
        await server.close()
        engine.emit(id, text('more'), text('and more'))
        server = await start({}, { engine })
      }
      if (event.seq === 6) engine.settle(id)
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(retries).toBeGreaterThan(0)
  })

  test('a stream cut inside a line, and one that repeats itself, lose and double nothing', async () => {
    const event = (seq: number, type = 'note') => `${JSON.stringify({ type, seq, text: 'ü🙂' })}\n`
    const bodies = [event(1) + event(2).slice(0, 15), event(1) + event(2), event(3, 'run-end')]
    const asked: (string | null)[] = []
    const url = await rawServer((request, response) => {
      asked.push(new URL(request.url ?? '', 'http://x').searchParams.get('after'))
      response.write(bodies.shift() ?? '')
      response.end()
    })
    const seen: RunEvent[] = []
    for await (const item of createClient({ url, token: TOKEN }).events('run_x')) seen.push(item)
    expect(seen.map((item) => item.seq)).toEqual([1, 2, 3])
    expect(asked).toEqual(['0', '1', '2'])
  })

  test('give up after the time they were given', async () => {
    const { url, close } = await startServer()
    await close()
    const events = createClient({ url, token: TOKEN }).events('run_x', { retryForMs: 120 })
    await expect(events.next()).rejects.toMatchObject({ code: 'daemon-unreachable' })
  })

  test('do not retry what the daemon refuses', async () => {
    const { url } = await start()
    const events = createClient({ url, token: TOKEN }).events('job_1', {
      onRetry: () => expect.unreachable(),
    })
    await expect(events.next()).rejects.toMatchObject({ code: 'bad-request' })
  })

  test('end at the newest with follow: false, and when asked to', async () => {
    const { url, engine } = await start()
    const client = createClient({ url, token: TOKEN })
    const { id } = engine.addRun()
    engine.emit(id, text('1'))
    const seen: RunEvent[] = []
    for await (const event of client.events(id, { follow: false })) seen.push(event)
    expect(seen).toHaveLength(1)

    const stop = new AbortController()
    const events = client.events(id, { signal: stop.signal })
    await events.next()
    const waiting = events.next()
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('a loop that is left closes its connection', async () => {
    const { url, engine } = await start()
    const { id } = engine.addRun()
    engine.emit(id, text('1'))
    for await (const _ of createClient({ url, token: TOKEN }).events(id)) break
    while (engine.listeners(id) > 0) await new Promise((resolve) => setImmediate(resolve))
  })

  test('whenSettled waits without reading them', async () => {
    const { url, engine } = await start()
    const { id } = engine.addRun()
    const settled = createClient({ url, token: TOKEN }).whenSettled(id)
    while (engine.listeners(id) === 0) await new Promise((resolve) => setImmediate(resolve))
    engine.settle(id)
    expect((await settled).state).toBe('settled')
  })
})
