import { expect, test } from 'vitest'
import { createChangeChunks } from '../../src/server/base/changes.ts'
import { encodingFor } from '../../src/server/base/stream.ts'
import { createChangeDouble } from './change-double.ts'

const READERS = 50
const NEVER = { heartbeatMs: 3_600_000, ended: new AbortController().signal }
const run = (state: string) => ({ kind: 'run', id: 'run_1', state }) as const

test('for readers that wait at the same number, each change is read once and encoded once per form', async () => {
  const feed = createChangeDouble()
  const chunks = createChangeChunks(feed)
  const readers = Array.from({ length: READERS }, (_, n) => {
    const encoding = encodingFor(n % 2 ? 'application/x-ndjson' : undefined)
    return chunks.follow({ after: 0, follow: true }, { ...NEVER, encoding })
  })
  const readAll = async () => {
    const read = await Promise.all(readers.map((reader) => reader.next()))
    return read.map(({ value }) => value as Uint8Array)
  }
  feed.add(run('queued'))
  const first = await readAll()
  const next = readAll()
  feed.add(run('running'))
  const second = await next
  expect(feed.readings()).toBe(2)
  for (const [state, bytes] of [
    ['queued', first],
    ['running', second],
  ] as const) {
    expect(new Set(bytes).size).toBe(2)
    const [sse = '', lines = ''] = bytes.map((one) => new TextDecoder().decode(one))
    expect(sse).toMatch(new RegExp(`^id: \\d\nevent: change\ndata: .*"${state}".*\n\n$`))
    expect(JSON.parse(lines)).toMatchObject({ state })
  }
  await Promise.all(readers.map((reader) => reader.return()))
  expect(feed.listeners()).toBe(0)
})

test('a reader that is behind reads for itself', async () => {
  const feed = createChangeDouble()
  const chunks = createChangeChunks(feed)
  feed.add(run('queued'), run('running'))
  const context = { ...NEVER, encoding: encodingFor('application/x-ndjson') }
  const [behind, ahead] = [0, 1].map((after) => chunks.follow({ after, follow: false }, context))
  const texts = await Promise.all([behind, ahead].map(async (reader) => (await reader?.next())?.value))
  const seqs = texts.map((bytes) => new TextDecoder().decode(bytes as Uint8Array).match(/(?<="seq":)\d/g))
  expect(seqs).toEqual([['1', '2'], ['2']])
})
