/**
 * Real attempts in their own folder. When a test is over, no process that carries the marker of one of its attempts may
 * be alive; if one is, it is ended, and the test fails.
 */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { AttemptId } from '../../src/contract/ids.ts'
import { type AttemptDir, attemptDir, prepare, type StdinMessage } from '../../src/process/attempt-dir.ts'
import { type LaunchInput, launch } from '../../src/process/launch.ts'
import type { ProcessIdentity } from '../../src/process/proc.ts'
import { Tail, type TailEnd } from '../../src/process/tail.ts'

export const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name)

export function temporarySpool(): string {
  const spool = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-process-')))
  onTestFinished(() => rmSync(spool, { recursive: true, force: true }))
  return spool
}

/** For what other processes do. They may wait long for a core: the limit only ends what would never come. */
export const eventually = (assertion: () => void) => vi.waitFor(assertion, { timeout: 150_000, interval: 5 })

export interface Attempt {
  id: string
  dir: AttemptDir
  spool: string
  keeper: ProcessIdentity
}

export function newAttempt(spool = temporarySpool(), id: string = AttemptId.create(new Date())) {
  onTestFinished(async () => {
    // A keeper that has written its exit code needs a moment more to end itself.
    const gone = eventually(() => expect(marked(id), 'processes left behind').toEqual([]))
    await gone.catch((leak: unknown) => {
      for (const pid of marked(id)) process.kill(pid, 'SIGKILL')
      throw leak
    })
  })
  return { id, spool, dir: attemptDir(spool, id) }
}

/** Starts a fixture under a keeper. */
export async function start(
  script: string,
  options: Partial<LaunchInput> & { messages?: StdinMessage[]; attempt?: ReturnType<typeof newAttempt> } = {},
): Promise<Attempt> {
  const attempt = options.attempt ?? newAttempt()
  const { dir, id } = attempt
  prepare(dir, options.messages ?? [])
  const byNode = script.endsWith('.mjs')
  const keeper = await launch({
    attemptId: id,
    dir,
    program: byNode ? process.execPath : fixture(script),
    env: { PATH: process.env.PATH ?? '' },
    workDir: attempt.spool,
    ...options,
    args: [...(byNode ? [fixture(script)] : []), ...(options.args ?? [])],
  })
  return { ...attempt, keeper }
}

export const output = ({ dir }: Pick<Attempt, 'dir'>) => readFileSync(dir.out, 'utf8')

export async function printed(attempt: Pick<Attempt, 'dir'>, text: string | RegExp): Promise<string> {
  await eventually(() => expect(output(attempt)).toMatch(text))
  return output(attempt)
}

/** The pid in "escaped <pid>". */
export async function escaped(attempt: Attempt): Promise<number> {
  return Number(/escaped (\d+)\n/.exec(await printed(attempt, /escaped \d+\n/))?.[1])
}

export async function ended({ dir, keeper }: Pick<Attempt, 'dir' | 'keeper'>): Promise<TailEnd> {
  const tail = new Tail(dir, keeper, 0)
  try {
    for (;;) {
      const end = await tail.end()
      if (end) return end
      await tail.wait(1000)
    }
  } finally {
    await tail.close()
  }
}

/** Processes that carry the attempt's marker, read from /proc independently of the code under test. */
export function marked(attemptId: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1')
          .split('\0')
          .includes(`REPRISE_ATTEMPT=${attemptId}`)
      } catch {
        return false
      }
    })
    .filter(isRunning)
}

export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

export const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
