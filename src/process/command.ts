/**
 * Runs a line of the user's configuration in a shell: in a process group of its own, for a limited time, with a text on
 * its stdin. When it is over, by itself or by us, so is everything it started. Unlike an agent it is tied to this
 * process; what it leaves running when this process is killed is ended before it is run again under the same id.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { endStrays } from './ladder.ts'
import { identify, MARKER, signal } from './proc.ts'

export interface CommandInput {
  /** Marks its processes. */
  id: string
  command: string
  env: Readonly<Record<string, string>>
  workDir: string
  stdin: string
  timeoutMs: number
  abort: AbortSignal
}

export type CommandEnd = (
  | { kind: 'exited'; code: number }
  | { kind: 'killed'; by: string }
  | { kind: 'timed-out' }
  | { kind: 'aborted' }
  | { kind: 'not-started'; why: string }
) & {
  /** The last of what it wrote, stdout and stderr together. */
  output: string
}

const OUTPUT_BYTES = 2048
const KILL_MS = 500

export async function runCommand(input: CommandInput): Promise<CommandEnd> {
  await endStrays(input.id, null, KILL_MS)
  if (input.abort.aborted) return { kind: 'aborted', output: '' }
  try {
    const child = spawn('/bin/sh', ['-c', input.command], {
      cwd: input.workDir,
      env: { ...input.env, [MARKER]: input.id },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    return await follow(child, input)
  } catch (error) {
    return { kind: 'not-started', why: (error as Error).message, output: '' }
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

async function follow(child: Child, { id, stdin, timeoutMs, abort }: CommandInput): Promise<CommandEnd> {
  const { pid } = child
  const leader = pid === undefined ? null : identify(pid)
  const readOutput = keepTail([child.stdout, child.stderr])
  // It may end without having read all of it.
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let killedFor: 'timed-out' | 'aborted' | null = null
  const kill = (why: 'timed-out' | 'aborted') => {
    killedFor ??= why
    killGroup(pid)
  }
  const timer = setTimeout(kill, timeoutMs, 'timed-out')
  const onAbort = () => kill('aborted')
  abort.addEventListener('abort', onAbort)
  try {
    const { code, by } = await exitOf(child).finally(() => {
      // What comes after its end is no cause of it.
      clearTimeout(timer)
      abort.removeEventListener('abort', onAbort)
    })
    killGroup(pid)
    await endStrays(id, leader, KILL_MS)
    // What it wrote last may still be on its way. Not for ever: the pipe may be held by someone we cannot see.
    await Promise.race([closed, delay(KILL_MS, undefined, { ref: false })])
    const output = readOutput()
    if (killedFor) return { kind: killedFor, output }
    return code === null ? { kind: 'killed', by: by ?? 'a signal', output } : { kind: 'exited', code, output }
  } finally {
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
  }
}

/** Detached, it leads a group of its own number. */
function killGroup(pid: number | undefined): void {
  if (pid !== undefined) signal(-pid, 'SIGKILL')
}

function exitOf(child: Child): Promise<{ code: number | null; by: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, by) => resolve({ code, by }))
  })
}

/** Reads everything, so that nobody waits for us, and keeps the end of it. */
function keepTail(streams: readonly Readable[]): () => string {
  let tail = Buffer.alloc(0)
  for (const stream of streams) {
    stream.on('error', () => {})
    stream.on('data', (chunk: Buffer) => {
      tail = Buffer.from(Buffer.concat([tail, chunk]).subarray(-OUTPUT_BYTES))
    })
  }
  return () => tail.toString('utf8').trim()
}
