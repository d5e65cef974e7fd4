/** Which commits are flushed to disk at once, and which with the next one that is. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EventBody } from '../../src/contract/events.ts'
import { EventBatch } from '../../src/store/runs/event-batch.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { admitted, at, ending, running, T0 } from './records.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'reprise-flush-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(dir, { recursive: true, force: true })
})

const text: EventBody = { type: 'text-delta', text: 'hello' }
const tool: EventBody = {
  type: 'tool-start',
  toolUseId: 'tool_1',
  name: 'Bash',
  input: {},
}
const GONE = { pid: 1, startTicks: '1', bootId: 'x' }

test('only what can be read again is not flushed at once', async () => {
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
  const store = await openSqliteStore(join(dir, 'reprise.db'), T0, { commitWindowMs: 0 })
  /** Whether the commit of this work was flushed: what the writer was set to last. */
  const isFlushed = async (work: () => Promise<unknown>) => {
    await work()
    const set = exec.mock.calls.map(([sql]) => /synchronous = (\w+)/.exec(sql)?.[1]).filter(Boolean)
    return set.at(-1) === 'full'
  }
  let offset = 0
  const { attempt } = await running(store)
  const print = (...events: EventBody[]) =>
    store.advanceAttempt(attempt, EventBatch.of(events), ++offset, at(2), { urgent: true })

  expect(await isFlushed(() => store.markLaunched(attempt, GONE))).toBe(false)
  expect(await isFlushed(() => print(text))).toBe(false)
  expect(await isFlushed(() => print(text, tool))).toBe(true)
  expect(await isFlushed(() => store.putFact('seen', 'x'))).toBe(false)
  // A commit is flushed if any of its pieces must be.
  expect(await isFlushed(() => Promise.all([print(text), admitted(store)]))).toBe(true)
  expect(await isFlushed(() => print(text))).toBe(false)
  // While there is nothing but output, it is flushed after some seconds.
  const now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now + 6000)
  expect(await isFlushed(() => print(text))).toBe(true)
  expect(await isFlushed(() => print(text))).toBe(false)
  expect(await isFlushed(() => store.endAttempt(ending(attempt)))).toBe(true)
  await store.close()
})

test('who did what is committed with what is written next, and can be listed at once', async () => {
  const path = join(dir, 'reprise.db')
  const store = await openSqliteStore(path, T0, { commitWindowMs: 3_600_000 })
  const other = new DatabaseSync(path, { readOnly: true })
  const committed = () => other.prepare('select summary from audit').all().length
  const by = { tokenId: null, who: 'me', from: null, operation: 'createRun', subject: null }
  const note = (summary: string) => store.addAudit({ ...by, at: T0, summary })
  await admitted(store)
  const noted = note('first')
  await new Promise(setImmediate)
  expect(committed()).toBe(0)
  await admitted(store)
  await noted
  expect(committed()).toBe(1)
  const again = note('second')
  const listed = await store.listAudit({ limit: 9 })
  expect(listed.map(({ summary }) => summary)).toEqual(['second', 'first'])
  await again
  other.close()
  await store.close()
})
