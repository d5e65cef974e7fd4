/**
 * Runs a command line from the user's configuration in a shell: in its own process group, with a time limit, and with a
 * text on its stdin. When the command ends or is ended, everything it started is ended too. Unlike an agent, a command
 * belongs to this process; if this process is killed, the leftovers are ended before the command is run again under the
 * same id.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { endStrays } from './ladder.ts'
import { identify, MARKER, signal } from './proc.ts'

export interface CommandInput {
  /** Marks the processes of the command. */
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
  /** The end of the combined stdout and stderr. */
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
  // The command may end without having read all of its stdin.
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
      // A timeout or an abort after the exit did not cause it.
      clearTimeout(timer)
      abort.removeEventListener('abort', onAbort)
    })
    killGroup(pid)
    await endStrays(id, leader, KILL_MS)
    // The last output may not have arrived yet. The wait is limited, because a process that we cannot see may hold the
    // pipe.
    await Promise.race([closed, delay(KILL_MS, undefined, { ref: false })])
    const output = readOutput()
    if (killedFor) return { kind: killedFor, output }
    return code === null ? { kind: 'killed', by: by ?? 'a signal', output } : { kind: 'exited', code, output }
  } finally {
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
  }
}

/** The shell was started detached, so its pid is also the id of its process group. */
function killGroup(pid: number | undefined): void {
  if (pid !== undefined) signal(-pid, 'SIGKILL')
}

function exitOf(child: Child): Promise<{ code: number | null; by: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, by) => resolve({ code, by }))
  })
}

/** Reads all output, so that the command never blocks on a full pipe, and keeps only the end. */
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
