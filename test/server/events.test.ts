import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/contract/events.ts'
import type { RunId } from '../../src/contract/ids.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'
import { createEngineDouble } from './engine-double.ts'
import { openStream, readUntil, until } from './streaming.ts'

let server: ServerUnderTest
beforeEach(async () => {
  server = await startServer({ heartbeatMs: 20 })
})
afterEach(() => server.close())

const text = (value: string) => ({ type: 'text-delta', text: value }) as const

const open = (id: RunId, query = '', headers?: Record<string, string>, signal?: AbortSignal) =>
  openStream(`${server.url}/api/runs/${id}/events${query}`, headers, signal)

describe('SSE', () => {
  test('replays past events, follows new ones, ends after run-end', async () => {
    const { id } = server.engine.addRun()
    server.engine.emit(id, text('one\ntwo'))
    const response = await open(id)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const first = await readUntil(response, (seen) => seen.includes('\n\n'))
    expect(first).toMatch(/^id: 1\nevent: text-delta\ndata: \{.*"text":"one\\ntwo".*\}\n\n/)
    server.engine.emit(id, text('three'))
    server.engine.settle(id)
    const rest = await readUntil(response, (seen) => seen.includes('event: run-end'))
    expect((await response.body!.getReader().read()).done).toBe(true)
    expect(rest.match(/^id: \d+$/gm)).toEqual(['id: 2', 'id: 3'])
    await until(() => server.engine.listeners(id) === 0)
  })

  test('starts after Last-Event-ID, which is newer than ?after', async () => {
    const { id } = server.engine.addRun()
    server.engine.emit(id, text('a'), text('b'), text('c'))
    server.engine.settle(id)
    const idsOf = async (response: Promise<Response>) =>
      (await (await response).text()).match(/^id: (\d+)$/gm)?.map((line) => Number(line.slice(4)))
    expect(await idsOf(open(id, '?after=2'))).toEqual([3, 4])
    expect(await idsOf(open(id, '?after=1', { 'last-event-id': '3' }))).toEqual([4])
    expect(await idsOf(open(id, '?follow=false'))).toEqual([1, 2, 3, 4])
  })

  test('?follow=false ends at the newest event of a run that continues', async () => {
    const { id } = server.engine.addRun()
    server.engine.emit(id, text('a'))
    expect((await (await open(id, '?follow=false')).text()).match(/^id:/gm)).toHaveLength(1)
  })

  test('says 204 when the run is over and all was seen, so that EventSource stops coming back', async () => {
    const { id } = server.engine.addRun()
    server.engine.settle(id)
    expect((await open(id, '', { 'last-event-id': '1' })).status).toBe(204)
    expect((await open(id, '?follow=false&after=1')).status).toBe(200)
  })

  test('a reader ahead of the events is let go when the run ends', async () => {
    const { id } = server.engine.addRun()
    const response = await open(id, '?after=999')
    await until(() => server.engine.listeners(id) === 1)
    server.engine.settle(id)
    expect((await response.text()).replaceAll(/: still here\n\n/g, '')).toBe('')
  })

  test('keeps the connection alive while nothing happens', async () => {
    const { id } = server.engine.addRun()
    const response = await open(id)
    await readUntil(response, (seen) => seen.split(': still here\n\n').length > 3)
    await response.body?.cancel()
  })

  test('a reader that leaves is no longer listened for', async () => {
    const { id } = server.engine.addRun()
    const gone = new AbortController()
    const response = await open(id, '', {}, gone.signal)
    await until(() => server.engine.listeners(id) === 1)
    gone.abort()
    await response.text().catch(() => {})
    await until(() => server.engine.listeners(id) === 0)
  })

  test('losing a wake costs latency only', async () => {
    const engine = createEngineDouble()
    const deaf = await startServer({ heartbeatMs: 20 }, { engine: { ...engine, onProgress: () => () => {} } })
    const { id } = engine.addRun()
    const response = await fetch(`${deaf.url}/api/runs/${id}/events`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    engine.emit(id, text('a'))
    engine.settle(id)
    expect(await response.text()).toContain('event: run-end')
    await deaf.close()
  })
})

test('NDJSON, one event a line', async () => {
  const { id } = server.engine.addRun()
  server.engine.emit(id, ...Array.from({ length: 1000 }, (_, n) => text(`${n} \u2028 ü`)))
  server.engine.settle(id)
  const response = await open(id, '', { accept: 'application/x-ndjson' })
  expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  const lines = (await response.text()).trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as RunEvent).seq)).toEqual(
    Array.from({ length: 1001 }, (_, n) => n + 1),
  )
})

test('closing the server ends the streams, without waiting for the runs', async () => {
  const { id } = server.engine.addRun()
  const response = await open(id)
  await until(() => server.engine.listeners(id) === 1)
  await server.close()
  await response.text().catch(() => {})
  expect(server.engine.listeners(id)).toBe(0)
})

describe('a reader of an endless run', () => {
  const EVENT_CHARS = 100_000
  /** Makes events up when they are asked for, and notes how far it was asked. */
  function endless() {
    const engine = createEngineDouble()
    const asked = { seq: 0 }
    const payload = 'x'.repeat(EVENT_CHARS)
    const listEvents = async (id: RunId, after: number, limit: number): Promise<RunEvent[]> => {
      asked.seq = Math.max(asked.seq, after + limit)
      return Array.from({ length: limit }, (_, n) => ({
        ...text(payload),
        runId: id,
        seq: after + n + 1,
        attemptId: null,
        at: '2026-01-01T00:00:00.000Z',
      }))
    }
    return { engine: { ...engine, listEvents }, asked }
  }

  test('that always takes more gets one bounded piece at a time, and other requests are answered in between', async () => {
    const { engine } = endless()
    const busy = await startServer({}, { engine })
    const { id } = engine.addRun()
    let turns = 0
    const countTurn = () => {
      turns++
      counting = setImmediate(countTurn)
    }
    let counting = setImmediate(countTurn)
    // Read from the app itself, so that no socket makes the stream wait.
    const replay = await busy.app.fetch(
      new Request(`${busy.url}/api/runs/${id}/events`, {
        headers: { authorization: `Bearer ${TOKEN}`, host: new URL(busy.url).host },
      }),
    )
    const pieces: { chars: number; turn: number }[] = []
    let answered = 0
    const health = busy.call('/api/health').then(({ status }) => {
      answered = status
    })
    for await (const { length } of replay.body!) {
      pieces.push({ chars: length, turn: turns })
      if (pieces.length === 5000 || (answered && pieces.length > 20)) break
    }
    expect(answered).toBe(200)
    expect(Math.max(...pieces.map(({ chars }) => chars))).toBeLessThan(2 * EVENT_CHARS)
    expect(new Set(pieces.map(({ turn }) => turn)).size).toBe(pieces.length)
    clearImmediate(counting)
    await health
    await until(() => engine.listeners(id) === 0)
    await busy.close()
  })

  test('that is slow is not read ahead for: neither events nor memory pile up', async () => {
    const { engine, asked } = endless()
    const slow = await startServer({}, { engine })
    const { id } = engine.addRun()
    const sockets: Socket[] = []
    const before = process.memoryUsage().rss
    for (let n = 0; n < 10; n++) {
      const socket = connect(slow.port, '127.0.0.1', () =>
        socket.write(
          `GET /api/runs/${id}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
        ),
      )
      sockets.push(socket.pause())
    }
    await until(() => asked.seq > 1)
    // The kernel's buffers take a few megabytes; after that nothing may be read, whatever else happens.
    let still = 0
    for (let last = -1; still < 200; still = asked.seq === last ? still + 1 : 0) {
      last = asked.seq
      await slow.call('/api/health')
    }
    expect(asked.seq * EVENT_CHARS).toBeLessThan(16 * 2 ** 20)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20)

    // It was waiting, not stuck.
    const stoppedAt = asked.seq
    sockets[0]!.resume()
    await until(() => asked.seq > stoppedAt + 100)
    for (const socket of sockets) socket.destroy()
    await until(() => engine.listeners(id) === 0)
    await slow.close()
  })
})
