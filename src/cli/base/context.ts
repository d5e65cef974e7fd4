/** What a command sees of the process it runs in. Created once, in main.ts. */
import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../../config/environment.ts'

export interface TerminalOut extends Writable {
  isTTY?: boolean
  columns?: number
  rows?: number
}

export interface CliContext {
  env: Environment
  cwd: string
  version: string
  /** The script that was started: main.ts, or what it was built into. */
  entry: string
  stdin: Readable & { isTTY?: boolean }
  stdout: TerminalOut
  stderr: TerminalOut
  /** Only JSON on stdout. */
  json: boolean
  /** What the process will exit with if nothing is thrown. */
  exitCode: number
  /** What Ctrl-C does; a command with something to finish puts its own in place. */
  interrupt: () => void
}

/** The one JSON document of a command, or a line of NDJSON. Waits while the reader is behind. */
export function printJson(context: CliContext, value: unknown): Promise<void> {
  return print(context.stdout, `${JSON.stringify(value)}\n`)
}

export function printLine(context: CliContext, line: string): Promise<void> {
  return print(context.stdout, `${line}\n`)
}

/** For people only, never part of the result. */
export function notify(context: CliContext, line: string): void {
  context.stderr.write(`${line}\n`)
}

export async function print(stream: Writable, text: string): Promise<void> {
  if (stream.write(text)) return
  await new Promise((resolve) => stream.once('drain', resolve))
}
