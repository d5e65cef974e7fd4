/** The identity of a process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  findProcesses,
  hasMarker,
  identify,
  isAlive,
  MARKER,
  readBootId,
  signal,
} from '../../src/process/proc.ts'
import { eventually, temporarySpool } from './attempts.ts'

async function run(
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ChildProcess & { pid: number }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'], env })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  return child as ChildProcess & { pid: number }
}

const gone = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve))

describe('an identity', () => {
  it('is pid, start and boot: the same each time, another for another process', async () => {
    const [a, b] = [await run('sleep', ['60']), await run('sleep', ['60'])]
    const identity = identify(a.pid)
    expect(identity).toEqual({ pid: a.pid, startTicks: expect.stringMatching(/^\d+$/), bootId: readBootId() })
    expect(identify(a.pid)).toEqual(identity)
    expect(identity?.bootId).toBe(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
    expect(Number(identify(b.pid)?.startTicks)).toBeGreaterThanOrEqual(Number(identity?.startTicks))
    expect(Number(identify(process.pid)?.startTicks)).toBeLessThan(Number(identity?.startTicks))
  })

  it('is alive only with all three: a reused pid and an earlier boot are other processes', async () => {
    const child = await run('sleep', ['60'])
    const identity = identify(child.pid)
    if (!identity) throw new Error('expected an identity')
    expect(isAlive(identity)).toBe(true)
    expect(isAlive({ ...identity, startTicks: String(Number(identity.startTicks) - 1) })).toBe(false)
    expect(isAlive({ ...identity, bootId: '00000000-0000-0000-0000-000000000000' })).toBe(false)
    child.kill('SIGKILL')
    await gone(child)
    expect(isAlive(identity)).toBe(false)
    expect(identify(child.pid)).toBeNull()
  })

  it('is none for a zombie', async () => {
    const parent = await run('/bin/sh', ['-c', 'sleep 50 & echo $!; exec sleep 60'], {
      PATH: process.env.PATH,
    })
    const pid = await new Promise<number>((resolve) => parent.stdout?.once('data', (d) => resolve(Number(d))))
    // A shell would reap its child; the program that has replaced it does not.
    await eventually(() => expect(readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n'))
    process.kill(pid, 'SIGKILL')
    await eventually(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z '))
    expect(identify(pid)).toBeNull()
  })

  it('is none for impossible pids', () => {
    for (const pid of [0, -1, 2 ** 30, Number.NaN]) expect(identify(pid)).toBeNull()
  })

  it('is right for a program with a confusing name', async () => {
    const odd = join(temporarySpool(), 'a) Z 1 (b')
    copyFileSync('/bin/sleep', odd)
    const plain = await run('/bin/sleep', ['60'])
    const child = await run(odd, ['60'])
    await eventually(() => expect(readFileSync(`/proc/${child.pid}/comm`, 'utf8')).toContain('Z 1'))
    const later = await run('/bin/sleep', ['60'])
    const [before, ticks, after] = [plain, child, later].map(({ pid }) => Number(identify(pid)?.startTicks))
    expect(ticks).toBeGreaterThanOrEqual(before!)
    expect(ticks).toBeLessThanOrEqual(after!)
  })
})

describe('the marker', () => {
  it('is the whole value of the variable, in the process itself', async () => {
    const child = await run('sleep', ['60'], { OTHER: 'x', [MARKER]: 'att_1' })
    await eventually(() => expect(readFileSync(`/proc/${child.pid}/comm`, 'utf8')).toBe('sleep\n'))
    expect(hasMarker(child.pid, 'att_1')).toBe(true)
    for (const id of ['att_', 'att_11', 'tt_1', '']) expect(hasMarker(child.pid, id)).toBe(false)
    const other = await run('sleep', ['60'], { [`X${MARKER}`]: 'att_1', Y: `${MARKER}=att_1` })
    await eventually(() => expect(readFileSync(`/proc/${other.pid}/comm`, 'utf8')).toBe('sleep\n'))
    expect(hasMarker(other.pid, 'att_1')).toBe(false)
  })

  it('leads to all descendants, each once', async () => {
    const script = '(sleep 60 & sleep 60 & wait) & echo ready; wait'
    const id = `att_tree_${process.pid}`
    const shell = await run('/bin/sh', ['-c', script], { PATH: process.env.PATH, [MARKER]: id })
    await eventually(() => expect(findProcesses(id)).toHaveLength(4))
    const pids = findProcesses(id).map(({ pid }) => pid)
    expect(new Set(pids).size).toBe(4)
    expect(pids).toContain(shell.pid)
    for (const pid of pids) signal(pid, 'SIGKILL')
    await eventually(() => expect(findProcesses(id)).toEqual([]))
  })
})

it('a signal to a process that does not exist is not an error', () => {
  expect(() => signal(2 ** 22 + 5, 'SIGTERM')).not.toThrow()
})
