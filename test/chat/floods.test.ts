/** Tools that print hundreds of megabytes in one turn: all of it is in the run's events, the conversation stays usable. */
import { readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { RunId } from '../../src/contract/ids.ts'
import { scanEvents } from '../../src/engine/base/events.ts'
import type { StoredEvent } from '../../src/store/runs/records.ts'
import type { Store } from '../../src/store/store.ts'
import { floodingAgent } from '../support/agents.ts'
import { Chat } from '../support/chat.ts'
import { until, World } from '../support/world.ts'

const RESULTS = 100
const MIB = 1 << 20

let world: World | null = null
afterEach(async () => {
  await world?.close()
  world = null
})

/** The peak memory of a process. */
function peakMib(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1024
}

it(`a turn with ${RESULTS} tool results of 1 MiB each completes, and its conversation stays small`, async () => {
  const here = await World.create({ name: 'unused', rules: [{ reply: 'unused' }] })
  world = here
  const command = await floodingAgent(here, RESULTS, MIB)
  await here.configure({ agents: { claude: { command } } })
  await here.startDaemon()
  const chat = await Chat.create(here)
  const before = peakMib(here.daemonPid)

  // Its events are not followed, because that would transfer all of the output again.
  const { id } = await chat.post('print it all')
  const settled = async () => (await here.getRun(id)).state === 'settled'
  await until(settled, 'the end of the turn')
  expect(await here.getRun(id)).toMatchObject({
    outcome: 'completed',
    resultText: 'All read.',
    attemptCount: 1,
  })
  expect(here.log()).toContain('reading it in the reading thread')
  expect(here.log()).not.toMatch(/read without it|reading on the main thread again/)
  // It passes through, some megabytes at a time; garbage that is not collected yet is not little.
  expect(peakMib(here.daemonPid) - before).toBeLessThan(300)

  const text = await (await here.request('GET', `/api/conversations/${chat.id}`)).text()
  expect(text.length).toBeLessThan(2 * MIB)
  const [, answer] = (await chat.detail()).messages
  expect(answer?.blocks.filter((block) => block.type === 'tool-use')).toHaveLength(RESULTS)
  const results = answer?.blocks.flatMap((block) => (block.type === 'tool-result' ? [block.content] : []))
  expect(results).toHaveLength(RESULTS)
  for (const [n, result] of results!.entries()) {
    expect(result).toMatch(new RegExp(`^line ${n} of the output\n.*more characters\\)$`))
  }

  // The events have all of it.
  const whole = await here.request('GET', `/api/runs/${id}/events?follow=false`, undefined, {
    accept: 'application/x-ndjson',
  })
  let bytes = 0
  for await (const chunk of whole.body!) bytes += (chunk as Uint8Array).length
  expect(bytes).toBeGreaterThan(RESULTS * MIB)
})

it('large events are read a few at a time, small ones many', async () => {
  const sizes = [...Array(40).fill(MIB), ...Array(2000).fill(100)] as number[]
  const events = sizes.map((chars, index) => ({ seq: index + 1, chars }) as StoredEvent)
  const pages: StoredEvent[][] = []
  const listEvents: Store['listEvents'] = async (_, { afterSeq = 0, limit } = {}) => {
    const page = events.slice(afterSeq, afterSeq + (limit ?? events.length))
    pages.push(page)
    return page
  }
  const seen: number[] = []
  const store = { listEvents } as Store
  await scanEvents(store, RunId.create(new Date(0)), {}, ({ seq }) => void seen.push(seq))
  expect(seen).toEqual(events.map(({ seq }) => seq))
  const chars = pages.map((page) => page.reduce((sum, event) => sum + event.chars, 0))
  expect(Math.max(...chars)).toBeLessThanOrEqual(8 * MIB)
  expect(pages.length).toBeLessThan(60)
})
