/**
 * An adapter with protocol state produces the same events, and answers the agent once, however the output is read: in
 * one go, from where an earlier daemon stopped, in the reading thread, and after the thread is lost.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NOTHING_TO_REDACT } from '../../src/core/redact/redactor.ts'
import { type Batch, Intake } from '../../src/engine/supervise/reading/intake.ts'
import { SpoolReader, type Taken } from '../../src/engine/supervise/reading/spool-reader.ts'
import { ReadingThread } from '../../src/engine/supervise/reading/thread.ts'
import { type AttemptDir, attemptDir, prepare, readSeed } from '../../src/process/attempt-dir.ts'
import { Tail } from '../../src/process/tail.ts'
import { handshakeAdapter } from '../support/handshake/adapter.ts'

const THREAD = new URL('../support/handshake/reading-thread.ts', import.meta.url)
const GONE = { pid: 0, startTicks: '', bootId: '' }
const quiet = { info: () => {}, error: () => {}, warn: () => {} }

const UPDATES = 80_000
const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const output = Buffer.from(
  line({ id: 1, result: {} }) +
    line({ id: 2, result: { sessionId: 's1' } }) +
    'no JSON at all\n' +
    line({ method: 'session/update', params: { kind: 'text', text: 'x' } }).repeat(UPDATES) +
    line({ id: 'prompt-p1', result: {} }),
)

let folder: string
let dir: AttemptDir
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-protocol-'))
  dir = attemptDir(folder, 'att_1')
  prepare(dir, [], { sessionId: null, promptId: 'p1', prompt: 'begin' })
  writeFileSync(dir.out, output)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const input = () => ({
  adapter: handshakeAdapter,
  seed: readSeed(dir),
  redactor: NOTHING_TO_REDACT,
  maxLineBytes: 300_000,
})

function readAtOnce(): Taken[] {
  const reader = new SpoolReader({ ...input(), from: 0, storedTo: 0 })
  const batches: Taken[] = []
  for (let at = 0; at < output.length; at += 1 << 20) {
    reader.push(output.subarray(at, at + (1 << 20)))
    if (reader.isFull) batches.push(reader.take())
  }
  reader.finish()
  return [...batches, reader.take()]
}

const textsOf = (batches: readonly Pick<Taken, 'batch'>[]) => batches.flatMap(({ batch }) => batch.texts)
const sentBy = (batches: readonly Pick<Taken, 'messages'>[]) =>
  batches.flatMap(({ messages }) => messages.map(({ id }) => id))

async function readFrom(stored: number, loseThreadAfter: number | null): Promise<Batch[]> {
  let worker: Worker | undefined
  const { options } = NOTHING_TO_REDACT
  const thread = new ReadingThread(() => (worker = new Worker(THREAD, { workerData: options })), quiet)
  while (!thread.prepare()) await new Promise((resolve) => worker?.once('message', resolve))
  const tail = new Tail(dir, GONE, 0)
  const at = { from: stored, storedTo: stored }
  const intake = new Intake({ ...input(), ...at, tail, path: dir.out, thread, log: quiet })
  try {
    const batches: Batch[] = []
    for (let drained = false; !drained; ) {
      const batch = await intake.next(true)
      batches.push(batch)
      drained = batch.drained
      if (batches.length - 1 === loseThreadAfter) await worker?.terminate()
    }
    return batches
  } finally {
    intake.close()
    await tail.close()
    await thread.close()
  }
}

it('answers the agent during the handshake', () => {
  const once = readAtOnce()
  expect(once.length).toBeGreaterThan(2)
  expect(sentBy(once)).toEqual(['request-2', 'request-prompt-p1'])
  expect(JSON.parse(textsOf(once).at(-1) ?? '').text).toHaveLength(UPDATES)
})

describe('another reader', () => {
  it.each([
    ['begins anew', 0, null],
    ['begins anew, and loses its thread', 0, 1],
    ['continues where an earlier daemon stopped', 1, null],
    ['continues where an earlier daemon stopped, and loses its thread', 1, 2],
    ['has only the end to read', 2, null],
  ])('%s', async (_, storedBatches, loseThreadAfter) => {
    const once = readAtOnce()
    const stored = once.slice(0, storedBatches)
    const batches = await readFrom(stored.at(-1)?.offset ?? 0, loseThreadAfter)
    expect([...textsOf(stored), ...textsOf(batches)]).toEqual(textsOf(once))
    expect([...sentBy(stored), ...sentBy(batches)]).toEqual(sentBy(once))
    for (const { offset } of batches) expect(offset).toBeGreaterThanOrEqual(stored.at(-1)?.offset ?? 0)
  })
})
