/** The process that a command runs in: environment, streams, exit code. Created once, in main.ts. */
import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../../config/environment.ts'
import { print, toJsonLine, write } from './output.ts'

export interface TerminalOut extends Writable {
  isTTY?: boolean
  columns?: number
  rows?: number
}

export interface CliContext {
  env: Environment
  cwd: string
  version: string
  /** The script that was started: main.ts, or its bundle. */
  entry: string
  stdin: Readable & { isTTY?: boolean; setRawMode?: (raw: boolean) => unknown }
  stdout: TerminalOut
  stderr: TerminalOut
  /** Only JSON on stdout. */
  json: boolean
  /** The exit code of the process if nothing is thrown. */
  exitCode: number
  /** The handler of Ctrl-C; a command that has something to finish replaces it. */
  interrupt: () => void
  /** Called when stdout refuses what is written; a command that must go on without it replaces it. */
  outputFailed: (error: NodeJS.ErrnoException) => void
}

/** Prints a JSON document, or a line of NDJSON. Waits while the reader is slow. */
export function printJson(context: CliContext, value: unknown): Promise<void> {
  return print(context.stdout, toJsonLine(value))
}

export function printLine(context: CliContext, line: string): Promise<void> {
  return print(context.stdout, `${line}\n`)
}

/** Writes a line to stderr, for people only. */
export function notify(context: CliContext, line: string): void {
  write(context.stderr, `${line}\n`)
}
