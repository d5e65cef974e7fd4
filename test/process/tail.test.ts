/** Following what an agent prints, and its end. */
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { prepare } from '../../src/process/attempt-dir.ts'
import { endStrays } from '../../src/process/ladder.ts'
import { LineSplitter, type Piece } from '../../src/process/line-splitter.ts'
import { identify, type ProcessIdentity } from '../../src/process/proc.ts'
import { Tail } from '../../src/process/tail.ts'
import { isRunning } from '../support/processes.ts'
import { type Attempt, ended, marked, newAttempt, output, printed, start } from './attempts.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Reads to the end as the engine does; calls `onBytes` after each read. */
async function readAll(
  { dir, keeper }: Pick<Attempt, 'dir' | 'keeper'>,
  { maxLine = 1 << 20, offset = 0, onBytes = (_total: number) => {} } = {},
): Promise<Piece[]> {
  const tail = new Tail(dir, keeper, offset)
  const splitter = new LineSplitter(maxLine, offset)
  const pieces: Piece[] = []
  let total = 0
  try {
    for (;;) {
      const end = await tail.end()
      for (let chunk = await tail.read(); chunk !== null; chunk = await tail.read()) {
        pieces.push(...splitter.push(chunk))
        onBytes((total += chunk.length))
      }
      if (end) return [...pieces, ...splitter.flush()]
      await tail.wait(10_000)
    }
  } finally {
    await tail.close()
  }
}

it('a keeper that could not write the exit code, because the disk was full', async () => {
  const { dir } = newAttempt()
  prepare(dir, [], {})
  writeFileSync(join(dir.path, 'exit'), '')
  const tail = new Tail(dir, { pid: 2 ** 22, startTicks: '1', bootId: 'none' }, 0)
  expect(await tail.end()).toEqual({ kind: 'lost', starved: false, unwritten: true })
  await tail.close()
})

describe('output', () => {
  it('of a process that is killed in the middle of a line is there to the last byte', async () => {
    const attempt = await start('dies-mid-line.sh')
    expect(await ended(attempt)).toEqual({ kind: 'exited', code: 137, starved: false })
    expect(await readAll(attempt)).toEqual([
      { kind: 'line', text: 'whole', from: 0, end: 6 },
      { kind: 'line', text: '{"torn":', from: 6, end: 14 },
    ])
  })

  it('without a newline at the end is read completely', async () => {
    const attempt = await start('prints-no-newline.sh')
    expect(await readAll(attempt)).toEqual([
      { kind: 'line', text: 'first', from: 0, end: 6 },
      { kind: 'line', text: 'second', from: 6, end: 12 },
    ])
  })

  it('that is large is read line by line; the agent does not wait for its reader', async () => {
    const lines = 40_000
    const attempt = await start('floods-stdout.mjs', { args: [String(lines)] })
    // The agent ended although nobody has read a byte.
    expect(await ended(attempt)).toEqual({ kind: 'exited', code: 0, starved: false })
    const pieces = await readAll(attempt)
    expect(pieces).toHaveLength(lines)
    const wrong = pieces.findIndex(
      (piece, i) =>
        piece.kind !== 'line' || Number(piece.text.slice(0, 10)) !== i || piece.end !== (i + 1) * 1000,
    )
    expect(wrong).toBe(-1)
  })

  it('can be read from any offset, by another reader', async () => {
    const attempt = await start('floods-stdout.mjs', { args: ['2000'] })
    const whole = await readAll(attempt)
    const end = whole[1233]?.end ?? 0
    expect(await readAll(attempt, { offset: end })).toEqual(whole.slice(1234))
  })

  it('of one line of 100 MB is a gap, and costs hardly any memory', async () => {
    const size = 100 << 20
    const attempt = await start('prints-a-huge-line.mjs', { args: [String(size)] })
    await ended(attempt)
    collectGarbage()
    const held = () => process.memoryUsage().heapUsed + process.memoryUsage().external
    const before = held()
    let most = 0
    let next = 0
    const pieces = await readAll(attempt, {
      maxLine: 8 << 20,
      onBytes: (total) => {
        if (total < next) return
        next = total + (4 << 20)
        collectGarbage()
        most = Math.max(most, held() - before)
      },
    })
    expect(pieces).toEqual([
      { kind: 'line', text: 'before', from: 0, end: 7 },
      { kind: 'gap', from: 7, end: 7 + size + 1 },
      { kind: 'line', text: 'after', from: 7 + size + 1, end: 7 + size + 1 + 6 },
    ])
    expect(statSync(attempt.dir.out).size).toBe(7 + size + 1 + 6)
    process.stdout.write(`100 MB line: at most ${(most / 2 ** 20).toFixed(1)} MB held\n`)
    expect(most).toBeLessThan(24 << 20)
  })

  it('of an unfinished short line does not keep the large buffer it came in', async () => {
    const { dir } = newAttempt()
    prepare(dir, [])
    const keeper = identify(process.pid) as ProcessIdentity
    const tail = new Tail(dir, keeper, 0)
    onTestFinished(() => tail.close())
    appendFileSync(dir.out, 'short')
    const chunk = await tail.read()
    expect(chunk?.toString()).toBe('short')
    expect(chunk?.buffer.byteLength).toBeLessThan(128 << 10)
    expect(await tail.read()).toBeNull()
    appendFileSync(dir.out, ' and more')
    expect((await tail.read())?.toString()).toBe(' and more')
  })
})

describe('waiting', () => {
  async function quietTail() {
    const { dir } = newAttempt()
    prepare(dir, [])
    const tail = new Tail(dir, identify(process.pid) as ProcessIdentity, 0)
    onTestFinished(() => tail.close())
    return { dir, tail }
  }
  /** No time passes in these tests unless they say so: a wait ends by a hint or not at all. */
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  it('is over when something was printed', async () => {
    const { dir, tail } = await quietTail()
    for (let n = 0; n < 3; n++) {
      const wait = tail.wait(60_000)
      appendFileSync(dir.out, 'x')
      await wait
    }
  })

  it('is over after a nudge, also if that came before', async () => {
    const { tail } = await quietTail()
    const wait = tail.wait(60_000)
    tail.nudge()
    await wait
    tail.nudge()
    await tail.wait(60_000)
  })

  it('is over at its time, and without any hint after half a second: hints may be lost', async () => {
    const { tail } = await quietTail()
    const over = vi.fn()
    void tail.wait(30).then(over)
    await vi.advanceTimersByTimeAsync(29)
    expect(over).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(over).toHaveBeenCalledOnce()
    void tail.wait(60_000).then(over)
    await vi.advanceTimersByTimeAsync(499)
    expect(over).toHaveBeenCalledOnce()
    await vi.advanceTimersByTimeAsync(1)
    expect(over).toHaveBeenCalledTimes(2)
  })
})

describe('the end', () => {
  it('is not there while the agent runs', async () => {
    const attempt = await start('exits-when-told.sh')
    await printed(attempt, 'ready')
    const tail = new Tail(attempt.dir, attempt.keeper, 0)
    expect(await tail.end()).toBeNull()
    await tail.close()
    process.kill(-attempt.keeper.pid, 'SIGKILL')
    await ended(attempt)
  })

  it('is "lost" when the keeper is killed; the agent it left behind is found and ended', async () => {
    const attempt = await start('ignores-sigterm.sh')
    await printed(attempt, 'ready')
    process.kill(attempt.keeper.pid, 'SIGKILL')
    expect(await ended(attempt)).toEqual({ kind: 'lost', starved: false })
    const left = marked(attempt.id)
    // The agent, the feeder and the holder. The holder also starts a `sleep` now and then.
    expect(left.length).toBeGreaterThanOrEqual(3)
    const { strays, survivors } = await endStrays(attempt.id, attempt.keeper, 5000)
    expect(strays).toBeGreaterThanOrEqual(3)
    expect(survivors).toEqual([])
    expect(left.filter(isRunning)).toEqual([])
    expect(output(attempt)).toBe('ready\n')
  })

  it('is "lost" and starved when the feeder is killed while the keeper lives', async () => {
    const attempt = await start('ignores-sigterm.sh')
    await printed(attempt, 'ready')
    process.kill(Number(readFileSync(join(attempt.dir.path, 'feeder'), 'utf8')), 'SIGKILL')
    expect(await ended(attempt)).toEqual({ kind: 'lost', starved: true })
    expect((await endStrays(attempt.id, attempt.keeper, 5000)).survivors).toEqual([])
  })

  it('is the code on disk, also if the keeper is long gone and its pid is of another process', async () => {
    const { dir } = newAttempt()
    prepare(dir, [])
    const stranger = identify(process.pid) as ProcessIdentity
    const tail = new Tail(dir, { ...stranger, startTicks: '1' }, 0)
    expect(await tail.end()).toEqual({ kind: 'lost', starved: false })
    writeFileSync(join(dir.path, 'exit'), '5\n')
    expect(await tail.end()).toEqual({ kind: 'exited', code: 5, starved: false })
    await tail.close()
  })

  it('is seen only after everything that was printed can be read', async () => {
    for (let round = 0; round < 10; round++) {
      const attempt = await start('prints-no-newline.sh')
      expect((await readAll(attempt)).at(-1)).toMatchObject({ text: 'second' })
    }
  })
})
