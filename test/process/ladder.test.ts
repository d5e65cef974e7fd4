/** Ending an attempt: politely first, completely in the end, and no other process. */
import { spawn } from 'node:child_process'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { deliver, readExit } from '../../src/process/attempt-dir.ts'
import { endAttempt, endStrays, type LadderInput } from '../../src/process/ladder.ts'
import { isRunning } from '../support/processes.ts'
import {
  type Attempt,
  agentPid,
  ended,
  escaped,
  eventually,
  marked,
  newAttempt,
  output,
  printed,
  start,
} from './attempts.ts'

/** Reached only if a process stays that should have ended. */
const LONG = 100_000

async function climb(attempt: Attempt, change: Partial<LadderInput> = {}) {
  const farewell = vi.fn(async () => {})
  const { id: attemptId, keeper } = attempt
  const result = await endAttempt({
    attemptId,
    keeper,
    farewell,
    farewellMs: 0,
    termMs: LONG,
    killMs: LONG,
    ...change,
  })
  expect(marked(attempt.id)).toEqual([])
  return { ...result, farewell }
}

async function bystander(): Promise<number> {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore', env: { REPRISE_ATTEMPT: 'att_of_another_run' } })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await new Promise((resolve) => child.once('spawn', resolve))
  return child.pid ?? 0
}

describe('ending an attempt', () => {
  it('stops after the shutdown message if the agent obeys: no signal is sent', async () => {
    const attempt = await start('exits-when-told.sh')
    await printed(attempt, 'ready')
    const { survivors } = await climb(attempt, {
      farewell: () => deliver(attempt.dir, { id: 'end', line: '4' }),
      farewellMs: LONG,
    })
    expect(survivors).toEqual([])
    expect(await readExit(attempt.dir)).toMatchObject({ code: 4 })
    expect(output(attempt)).toBe('ready\n')
  })

  it('continues with SIGTERM if it does not, and its exit is known', async () => {
    const attempt = await start('obeys-sigterm.sh')
    await printed(attempt, 'ready')
    const { strays, farewell } = await climb(attempt, { farewellMs: 50 })
    expect(farewell).toHaveBeenCalledOnce()
    expect(strays).toBe(0)
    expect(await readExit(attempt.dir)).toMatchObject({ code: 143 })
  })

  it('continues with SIGKILL if it ignores that', async () => {
    const attempt = await start('ignores-sigterm.sh')
    await printed(attempt, 'ready')
    const all = marked(attempt.id)
    const from = performance.now()
    const { survivors } = await climb(attempt, { termMs: 100 })
    expect(survivors).toEqual([])
    expect(performance.now() - from, 'the group is killed, and needs no waiting for').toBeLessThan(LONG / 2)
    expect(all.filter(isRunning)).toEqual([])
    expect(await ended(attempt)).toEqual({ kind: 'lost', starved: false })
  })

  it('gives each step its time', async () => {
    const attempt = await start('ignores-sigterm.sh')
    await printed(attempt, 'ready')
    const from = performance.now()
    await climb(attempt, { farewellMs: 150, termMs: 150 })
    expect(performance.now() - from).toBeGreaterThanOrEqual(290)
  })

  it('finds processes that left the group by setsid', async () => {
    const attempt = await start('escapes-by-setsid.mjs')
    const pid = await escaped(attempt)
    expect(await climb(attempt)).toMatchObject({ strays: 1, survivors: [] })
    expect(isRunning(pid)).toBe(false)
  })

  it('finds processes without our variables whose parent has them', async () => {
    const attempt = await start('forgets-its-environment.sh')
    const pid = await escaped(attempt)
    await eventually(() => expect(marked(attempt.id)).not.toContain(pid))
    expect(await endStrays(attempt.id, attempt.keeper, LONG)).toMatchObject({ survivors: [] })
    expect(isRunning(pid)).toBe(false)
  })

  it('finds processes that were adopted by init after their parents ended', async () => {
    const attempt = await start('double-forks.mjs')
    const pid = await escaped(attempt)
    expect(await ended(attempt)).toMatchObject({ kind: 'exited', code: 0 })
    expect(isRunning(pid)).toBe(true)
    expect(await climb(attempt)).toMatchObject({ strays: 1, survivors: [] })
    expect(isRunning(pid)).toBe(false)
  })

  it('finds processes that have left environment, session, group and parents', async () => {
    const attempt = await start('leaves-everything-behind.sh')
    const pid = await escaped(attempt)
    expect(await ended(attempt)).toMatchObject({ kind: 'exited', code: 0 })
    await eventually(() => expect(marked(attempt.id)).toEqual([]))
    expect(isRunning(pid)).toBe(true)
    expect(await climb(attempt)).toMatchObject({ strays: 1, survivors: [] })
    expect(isRunning(pid)).toBe(false)
  })

  it('finds processes that are started during the search', async () => {
    const attempt = await start('spawns-while-dying.mjs')
    await printed(attempt, 'ready')
    const { survivors, strays } = await climb(attempt)
    expect(survivors).toEqual([])
    expect(strays).toBeGreaterThanOrEqual(3)
  })

  it('searches again until no process is left, while they multiply', async () => {
    const attempt = await start('keeps-multiplying.sh')
    await ended(attempt)
    expect(await endStrays(attempt.id, attempt.keeper, LONG)).toMatchObject({ survivors: [] })
    expect(marked(attempt.id)).toEqual([])
  })

  it('touches no other process: other attempts, processes of no attempt, ids with the same beginning', async () => {
    const strangers = [await bystander(), await bystander()]
    const attempt = newAttempt()
    const longer = await start('obeys-sigterm.sh', { attempt: newAttempt(attempt.spool, `${attempt.id}2`) })
    const own = await start('ignores-sigterm.sh', { attempt })
    await printed(own, 'ready')
    const agent = await agentPid(longer)
    await climb(own, { termMs: 50 })
    expect(strangers.every(isRunning)).toBe(true)
    expect([agent, longer.keeper.pid].every(isRunning)).toBe(true)
    expect(readExit(longer.dir)).toBeNull()
    await climb(longer)
  })

  it('does nothing to an attempt that has ended', async () => {
    const attempt = await start('prints-no-newline.sh')
    await ended(attempt)
    await eventually(() => expect(isRunning(attempt.keeper.pid)).toBe(false))
    const { farewell, ...result } = await climb(attempt)
    expect(farewell).not.toHaveBeenCalled()
    expect(result).toEqual({ strays: 0, survivors: [] })
    expect(await climb({ ...attempt, keeper: null as never })).toMatchObject({ strays: 0 })
  })

  it("does nothing to a process that has the keeper's pid now", async () => {
    const pid = await bystander()
    const attempt = { ...newAttempt(), keeper: { pid, startTicks: '1', bootId: 'x' } }
    const { farewell } = await climb(attempt)
    expect(farewell).not.toHaveBeenCalled()
    expect(isRunning(pid)).toBe(true)
  })
})
