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
import { isRunning, killIfThere, readProc } from '../support/processes.ts'

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
  onTestFinished(({ task }) => leavesNothing(() => marked(id), task.result?.state === 'fail'))
  return { id, spool, dir: attemptDir(spool, id) }
}

/**
 * Fails if a process stays. A test that has failed may not have ended what it started, which is then ended without
 * waiting for it.
 */
export async function leavesNothing(list: () => number[], hasFailed: boolean): Promise<void> {
  const killAll = () => {
    for (const pid of list()) killIfThere(pid)
  }
  if (hasFailed) killAll()
  try {
    // A keeper that has written its exit code needs a moment more to end itself.
    await eventually(() => expect(list(), 'processes left behind').toEqual([]))
  } finally {
    killAll()
  }
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
export const escaped = (attempt: Attempt) => pidAfter('escaped', attempt)

/** The pid of the agent itself, in "ready <pid>". */
export const agentPid = (attempt: Attempt) => pidAfter('ready', attempt)

async function pidAfter(word: string, attempt: Attempt): Promise<number> {
  const line = new RegExp(`${word} (\\d+)\\n`)
  return Number(line.exec(await printed(attempt, line))?.[1])
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
    .filter((pid) => readProc(pid, 'environ').split('\0').includes(`REPRISE_ATTEMPT=${attemptId}`))
    .filter(isRunning)
}

export const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
