import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { JobId, RunId } from '../../src/contract/ids.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'
import { idsIn, openStream, readUntil, typesIn, until } from './streaming.ts'

let server: ServerUnderTest
beforeEach(async () => {
  server = await startServer({ heartbeatMs: 20 })
})
afterEach(() => server.close())

const note = (text: string) => ({ type: 'note', text }) as const
const open = (id: string, query = '', headers?: Record<string, string>) =>
  openStream(`${server.url}/api/jobs/${id}/events${query}`, headers)
const readAll = async (...args: Parameters<typeof open>) => (await open(...args)).text()

/** A job whose first run has ended and whose second one is at work. */
function retriedJob() {
  const { engine } = server
  const { id, runId: first } = engine.addJob()
  engine.emit(first, note('a'), note('b'))
  engine.settle(first)
  const second = engine.addRunTo(id)
  engine.emit(second, note('c'))
  /** Ends the run that is at work, and the job with it. */
  const finish = (state: 'completed' | 'paused' = 'completed', runId = second) => {
    engine.changeJob(id, { state, endedAt: '2026-01-02T03:04:05.000Z' })
    engine.settle(runId)
  }
  return { id, first, second, finish }
}

describe('GET /api/jobs/:id/events', () => {
  test('sends the events of all runs in order, follows, and ends with one job-end', async () => {
    const { id, first, second, finish } = retriedJob()
    const response = await open(id)
    const before = await readUntil(response, (text) => text.includes(`id: ${second}:1`))
    expect(idsIn(before)).toEqual([`${first}:1`, `${first}:2`, `${first}:3`, `${second}:1`])
    finish()
    const rest = await readUntil(response, (text) => text.includes('event: job-end'))
    expect((await response.body!.getReader().read()).done).toBe(true)
    expect(idsIn(rest)).toEqual([`${second}:2`, `${second}:end`])
    expect(typesIn(rest)).toEqual(['run-end', 'job-end'])
    const [, data] = /^event: job-end\ndata: (.*)$/m.exec(rest) ?? []
    expect(JSON.parse(data!)).toEqual({
      type: 'job-end',
      jobId: id,
      state: 'completed',
      runId: second,
      at: '2026-01-02T03:04:05.000Z',
    })
    await until(() => server.engine.listeners(second) === 0)
  })

  test('continues with a run that is added while it follows', async () => {
    const { engine } = server
    const { id, runId } = engine.addJob()
    const response = await open(id)
    await until(() => engine.listeners(runId) === 1)
    // The run has ended, and what becomes of the job is not stored yet.
    engine.settle(runId)
    await readUntil(response, (text) => text.includes('event: run-end'))
    const next = engine.addRunTo(id)
    engine.emit(next, note('again'))
    const text = await readUntil(response, (seen) => seen.includes(`id: ${next}:1`))
    expect(text).not.toContain('job-end')
    engine.changeJob(id, { state: 'failed' })
    engine.settle(next)
    await readUntil(response, (seen) => seen.includes('"state":"failed"'))
  })

  test('resumes after Last-Event-ID in any run, which is newer than ?after', async () => {
    const { id, first, second, finish } = retriedJob()
    finish()
    const end = [`${second}:2`, `${second}:end`]
    expect(idsIn(await readAll(id, `?after=${first}:2`))).toEqual([`${first}:3`, `${second}:1`, ...end])
    expect(idsIn(await readAll(id, `?after=${first}:2`, { 'last-event-id': `${second}:1` }))).toEqual(end)
    expect(idsIn(await readAll(id, `?after=${second}:2`))).toEqual([`${second}:end`])
  })

  test('says 204 once all was seen, until the job is retried', async () => {
    const { id, second, finish } = retriedJob()
    finish('paused')
    const headers = { 'last-event-id': `${second}:end` }
    expect((await open(id, '', headers)).status).toBe(204)
    expect(await readAll(id, '?follow=false', headers)).toBe('')
    const third = server.engine.addRunTo(id)
    finish('completed', third)
    expect(idsIn(await readAll(id, '', headers))).toEqual([`${third}:1`, `${third}:end`])
  })

  test('?follow=false ends at the newest event of a job that continues', async () => {
    const { id, second } = retriedJob()
    expect(idsIn(await readAll(id, '?follow=false')).at(-1)).toBe(`${second}:1`)
  })

  test('keeps the connection alive, and ends with the server', async () => {
    const { id, second } = retriedJob()
    const response = await open(id)
    await readUntil(response, (text) => text.split(': still here\n\n').length > 2)
    await server.close()
    await response.text().catch(() => {})
    expect(server.engine.listeners(second)).toBe(0)
  })

  test('refuses ids that are none, and those of other jobs', async () => {
    const { id } = retriedJob()
    const other = server.engine.addJob().runId
    for (const after of [
      '1',
      'run_1:1',
      `${other}:`,
      `${other}:-1`,
      `${other}:1`,
      `${RunId.create(new Date())}:1`,
    ]) {
      expect((await server.call(`/api/jobs/${id}/events?after=${after}`)).status, after).toBe(400)
    }
    expect((await server.call(`/api/jobs/${JobId.create(new Date())}/events`)).status).toBe(404)
    expect((await server.call('/api/jobs/run_1/events')).status).toBe(400)
  })
})

describe('client.jobEvents', () => {
  test('yields the events of all runs once and in order, across restarts', async () => {
    const { id, first, second, finish } = retriedJob()
    let current = server
    const client = createClient({
      url: server.url,
      token: TOKEN,
      locate: async () => ({ url: current.url, token: TOKEN }),
    })
    const seen: string[] = []
    for await (const event of client.jobEvents(id)) {
      seen.push(`${event.runId}:${event.seq}`)
      if (seen.length === 2 || seen.length === 4) {
        await current.close()
        current = await startServer({ heartbeatMs: 20 }, { engine: server.engine })
      }
      if (seen.length === 4) finish()
    }
    expect(seen).toEqual([`${first}:1`, `${first}:2`, `${first}:3`, `${second}:1`, `${second}:2`])
    await current.close()
  })

  test('starts after an event, and ends at the newest with follow: false', async () => {
    const { id, first, second } = retriedJob()
    const seen: string[] = []
    const client = createClient({ url: server.url, token: TOKEN })
    for await (const event of client.jobEvents(id, { after: `${first}:3`, follow: false })) {
      seen.push(`${event.runId}:${event.seq}`)
    }
    expect(seen).toEqual([`${second}:1`])
  })
})
