import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { Change, Reload } from '../../src/contract/change.ts'
import { type ChangeDouble, createChangeDouble } from './change-double.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'
import { idsIn, openStream, readUntil, typesIn, until } from './streaming.ts'

let server: ServerUnderTest
let feed: ChangeDouble
beforeEach(async () => {
  feed = createChangeDouble()
  server = await startServer({ heartbeatMs: 20, changes: feed })
})
afterEach(() => server.close())

const run = (state: string) => ({ kind: 'run', id: 'run_1', state }) as const
const open = (query = '', headers?: Record<string, string>, signal?: AbortSignal) =>
  openStream(`${server.url}/api/changes${query}`, headers, signal)
const readAll = async (query: string, headers?: Record<string, string>) =>
  (await open(`?follow=false${query}`, headers)).text()

describe('GET /api/changes', () => {
  test('sends past and new changes, each with its number', async () => {
    feed.add(run('queued'))
    const response = await open()
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const first = await readUntil(response, (text) => text.includes('\n\n'))
    const [, data] = /^id: 1\nevent: change\ndata: (.*)\n\n/.exec(first) ?? []
    expect(JSON.parse(data!)).toEqual({
      seq: 1,
      kind: 'run',
      id: 'run_1',
      state: 'queued',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    feed.add(run('running'), { kind: 'conversation', id: 'cnv_1', state: null })
    expect(idsIn(await readUntil(response, (text) => text.includes('id: 3')))).toEqual(['2', '3'])
    await response.body?.cancel()
    await until(() => feed.listeners() === 0)
  })

  test('resumes after Last-Event-ID, which is newer than ?after', async () => {
    feed.add(...Array.from({ length: 5 }, () => run('running')))
    expect(idsIn(await readAll('&after=3'))).toEqual(['4', '5'])
    expect(idsIn(await readAll('&after=1', { 'last-event-id': '4' }))).toEqual(['5'])
    expect(idsIn(await readAll('&after=5'))).toEqual([])
  })

  test('more changes than fit on a page are all sent, in order', async () => {
    feed.add(...Array.from({ length: 1234 }, () => run('running')))
    expect(idsIn(await readAll(''))).toEqual(Array.from({ length: 1234 }, (_, n) => String(n + 1)))
  })

  test('a number that is too old gets one reload with the newest number, and continues from there', async () => {
    feed.add(...Array.from({ length: 10 }, () => run('running')))
    feed.keep(3)
    const response = await open('?after=2')
    const text = await readUntil(response, (seen) => seen.includes('event: reload'))
    expect(text).toContain('id: 10\nevent: reload\ndata: {"reload":true,"newest":10}\n\n')
    feed.add(run('settled'))
    const rest = await readUntil(response, (seen) => seen.includes('id: 11'))
    expect(typesIn(rest)).toEqual(['change'])
    await response.body?.cancel()
    // The oldest that is kept is 8: after 7 nothing was missed.
    expect(idsIn(await readAll('&after=7'))).toEqual(['8', '9', '10', '11'])
  })

  test('so does a number that is newer than the newest, and ?after=latest', async () => {
    feed.add(run('queued'), run('running'))
    for (const after of ['99', 'latest']) {
      const text = await readAll(`&after=${after}`)
      expect([idsIn(text), typesIn(text)]).toEqual([['2'], ['reload']])
    }
  })

  test('an empty feed is followed without a reload', async () => {
    const response = await open()
    await readUntil(response, (text) => text.split(': still here\n\n').length > 2)
    feed.add(run('queued'))
    expect(typesIn(await readUntil(response, (text) => text.includes('id: 1')))).toEqual(['change'])
    await response.body?.cancel()
  })

  test('losing a notice costs latency only', async () => {
    const deaf = await startServer({ heartbeatMs: 20, changes: { ...feed, onChanges: () => () => {} } })
    const response = await openStream(`${deaf.url}/api/changes`)
    feed.add(run('queued'))
    await readUntil(response, (text) => text.includes('id: 1'))
    await response.body?.cancel()
    await deaf.close()
  })

  test.each(['after=x', 'after=-1', 'after=1.5', 'follow=maybe', 'since=1'])(
    '?%s is refused',
    async (query) => {
      expect((await server.call(`/api/changes?${query}`)).status).toBe(400)
    },
  )
})

describe('client.changes', () => {
  const connect = (url = server.url) => createClient({ url, token: TOKEN })

  test('reads to the newest with follow: false', async () => {
    feed.add(run('queued'), run('running'))
    const seen: (Change | Reload)[] = []
    for await (const change of connect().changes({ after: 1, follow: false })) seen.push(change)
    expect(seen).toMatchObject([{ seq: 2, kind: 'run', id: 'run_1', state: 'running' }])
  })

  test('continues across a restart, with a reload for what was dropped meanwhile', async () => {
    let current = server
    const client = createClient({
      url: server.url,
      token: TOKEN,
      locate: async () => ({ url: current.url, token: TOKEN }),
    })
    feed.add(run('queued'), run('running'))
    const seen: string[] = []
    for await (const item of client.changes()) {
      seen.push('reload' in item ? `reload ${item.newest}` : String(item.seq))
      if (seen.length === 2) {
        await server.close()
        feed.add(run('queued'))
        current = await startServer({ heartbeatMs: 20, changes: feed })
      }
      if (seen.length === 3) {
        await current.close()
        feed.add(...Array.from({ length: 5 }, () => run('running')))
        feed.keep(1)
        current = await startServer({ heartbeatMs: 20, changes: feed })
      }
      if (seen.at(-1) === 'reload 8') feed.add(run('settled'))
      if (seen.at(-1) === '9') break
    }
    expect(seen).toEqual(['1', '2', '3', 'reload 8', '9'])
    await current.close()
  })

  test('ends when its signal is aborted', async () => {
    const stop = new AbortController()
    const waiting = connect().changes({ signal: stop.signal }).next()
    await until(() => feed.listeners() === 1)
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
    await until(() => feed.listeners() === 0)
  })
})
