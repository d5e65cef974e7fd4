/**
 * The output of an attempt becomes the same events, once and in order, however it is read: in one go, on the main
 * thread while it grows, in the reading thread, or in both because the thread was lost.
 */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { claudeAdapter } from '../../src/agents/claude/adapter.ts'
import { Redactor } from '../../src/core/redact/redactor.ts'
import { type Batch, Intake } from '../../src/engine/supervise/reading/intake.ts'
import { BATCH_BYTES, SpoolReader } from '../../src/engine/supervise/reading/spool-reader.ts'
import { ReadingThread } from '../../src/engine/supervise/reading/thread.ts'
import { startReadingThread } from '../../src/library/start-reading-thread.ts'
import { attemptDir, prepare } from '../../src/process/attempt-dir.ts'
import { Tail } from '../../src/process/tail.ts'

const SECRET = 'open sesame, and quickly'
const redactor = new Redactor({ builtIn: true, patterns: [], values: [SECRET] })
const maxLineBytes = 300_000
const quiet = { info: () => {}, error: () => {}, warn: () => {} }
const GONE = { pid: 0, startTicks: '', bootId: '' }

const delta = (text: string) =>
  `${JSON.stringify({ type: 'stream_event', event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } })}\n`
const LINES = {
  delta: delta('some words of an answer, '),
  secret: delta(`it is ${SECRET.slice(0, 9)}`) + delta(`${SECRET.slice(9)}, they say`),
  end: `${JSON.stringify({ type: 'assistant', message: { id: 'msg_1', content: [{ type: 'text', text: 'said' }] } })}\n`,
  native: `${JSON.stringify({ type: 'system', subtype: 'something_new', text: 'x'.repeat(3000) })}\n`,
  long: `${JSON.stringify({ type: 'system', subtype: 'long', text: 'é\u2028'.repeat(40_000) })}\n`,
  tooLong: `${'y'.repeat(maxLineBytes + 1)}\n`,
  noJson: 'Segmentation fault\n',
} as const

const plans = fc.record({
  lines: fc.array(fc.constantFrom(...(Object.keys(LINES) as (keyof typeof LINES)[])), {
    minLength: 5,
    maxLength: 40,
  }),
  /** The output ends in the middle of a line. */
  unfinished: fc.boolean(),
  /** How much of the output exists when reading begins. */
  there: fc.double({ min: 0.5, max: 1, noNaN: true }),
  /** How much of the output an earlier daemon had stored. */
  storedBatches: fc.nat(2),
  endsAfter: fc.integer({ min: 1, max: 4 }),
  loseThreadAfter: fc.option(fc.nat(4)),
})
type Plan = typeof plans extends fc.Arbitrary<infer T> ? T : never

function outputOf({ lines, unfinished }: Plan): Buffer {
  const round = lines.map((name) => LINES[name]).join('')
  const rounds = Math.ceil((4 * BATCH_BYTES) / round.length)
  return Buffer.from(round.repeat(rounds) + (unfinished ? '{"type":"sys' : ''))
}

interface Told {
  types: string[]
  texts: string[]
}

const told = (batches: readonly Pick<Batch, 'batch'>[]): Told => ({
  types: batches.flatMap(({ batch }) => batch.types),
  texts: batches.flatMap(({ batch }) => batch.texts),
})

const input = { adapter: claudeAdapter, seed: {}, redactor, maxLineBytes }

/** Reads batch by batch, like a daemon that has nothing else to do. */
function readAtOnce(output: Buffer) {
  const reader = new SpoolReader({ ...input, from: 0, storedTo: 0 })
  const batches = []
  for (let at = 0; at < output.length; at += 1 << 20) {
    reader.push(output.subarray(at, at + (1 << 20)))
    if (reader.isFull) batches.push(reader.take())
  }
  reader.finish()
  return [...batches, reader.take()]
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-intake-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function untilReady(thread: ReadingThread, worker: () => Worker): Promise<void> {
  while (!thread.prepare()) await new Promise((resolve) => worker().once('message', resolve))
}

it('is the same in the thread and on the main thread, from any offset, and when the thread is lost', async () => {
  const seed = Number(process.env.REPRISE_TEST_SEED ?? Date.now() % 2 ** 31)
  console.log(`fast-check seed ${seed}`)
  await fc.assert(
    fc.asyncProperty(plans, (plan) =>
      withFolder(async (folder) => {
        const output = outputOf(plan)
        const once = readAtOnce(output)
        const stored = once.slice(0, plan.storedBatches)
        const { offset = 0, heldFrom = null } = stored.at(-1) ?? {}

        const dir = attemptDir(folder, 'att_1')
        prepare(dir, [])
        const cut = Math.max(Math.floor(output.length * plan.there), offset)
        writeFileSync(dir.out, output.subarray(0, cut))
        let worker: Worker | undefined
        const thread = new ReadingThread(() => (worker = startReadingThread(redactor.options)), quiet)
        await untilReady(thread, () => worker as Worker)
        const tail = new Tail(dir, GONE, heldFrom ?? offset)
        const warnings: string[] = []
        const intake = new Intake({
          ...input,
          from: heldFrom ?? offset,
          storedTo: offset,
          tail,
          path: dir.out,
          thread,
          log: { ...quiet, warn: (_, message) => warnings.push(message) },
        })
        try {
          const batches: Batch[] = []
          for (let whole = cut === output.length; ; ) {
            const last = whole
            const batch = await intake.next(last)
            batches.push(batch)
            if (batches.length - 1 === plan.loseThreadAfter) await worker?.terminate()
            if (batch.drained && last) break
            // The process may write its last output and end while a batch is being read that does not include it.
            if (!whole && (batch.drained || batches.length === plan.endsAfter)) {
              appendFileSync(dir.out, output.subarray(cut))
              whole = true
            }
          }
          const now = told(batches)
          const before = told(stored)
          const all = told(once)
          expect([...before.types, ...now.types]).toEqual(all.types)
          expect([...before.texts, ...now.texts]).toEqual(all.texts)
          expect(all.texts.join('')).not.toContain(SECRET)
          // Events that the daemon adds to a batch of the thread are redacted too.
          for (const { batch } of batches) {
            batch.add([{ type: 'note', text: `refused: ${SECRET}` }])
            expect(batch.redacted ? batch.texts.at(-1) : null).toContain('refused: [redacted')
          }
          expect(Math.max(...batches.map(({ readTo }) => readTo))).toBe(output.length)
          expect(warnings.length).toBeLessThanOrEqual(plan.loseThreadAfter === null ? 0 : 1)
        } finally {
          intake.close()
          await tail.close()
          await thread.close()
        }
      }),
    ),
    { seed, numRuns: 12 },
  )
})

it('continues on the main thread while the thread starts, and if it cannot start at all', () =>
  withFolder(async (folder) => {
    const output = Buffer.from(LINES.native.repeat(3000))
    const dir = attemptDir(folder, 'att_1')
    prepare(dir, [])
    writeFileSync(dir.out, output)
    const failed = Promise.withResolvers<void>()
    let begun = 0
    const thread = new ReadingThread(
      () => {
        begun++
        return new Worker(new URL('data:text/javascript,throw new Error("no")'))
      },
      { ...quiet, error: () => failed.resolve() },
    )
    const tail = new Tail(dir, GONE, 0)
    const intake = new Intake({ ...input, from: 0, storedTo: 0, tail, path: dir.out, thread, log: quiet })
    const batches: Batch[] = []
    for (let drained = false; !drained; ) {
      const batch = await intake.next(true)
      batches.push(batch)
      drained = batch.drained
      await failed.promise
    }
    expect(batches.length).toBeGreaterThan(3)
    expect(begun).toBe(1)
    expect(told(batches)).toEqual(told(readAtOnce(output)))
    intake.close()
    await tail.close()
    await thread.close()
  }))
