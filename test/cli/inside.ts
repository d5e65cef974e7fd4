/**
 * The CLI in this very process: it says and asks the same as a process of its own, and need not be started. It cannot
 * start a daemon.
 */
import { PassThrough, Readable } from 'node:stream'
import type { CliContext } from '../../src/cli/base/context.ts'
import { runCli } from '../../src/cli/program.ts'
import { readVersion } from '../../src/library/version.ts'

export interface Answer {
  code: number
  stdout: string
  stderr: string
  json: <T = Record<string, unknown>>() => T
  /** Of NDJSON. */
  lines: () => Record<string, unknown>[]
}

export async function runInside(
  args: string[],
  { env, cwd, stdin }: Pick<CliContext, 'env' | 'cwd'> & { stdin?: string | undefined },
): Promise<Answer> {
  const [stdout, stderr] = [collect(), collect()]
  const context: CliContext = {
    env,
    cwd,
    version: readVersion(),
    entry: '',
    stdin: Readable.from(stdin === undefined ? [] : [stdin]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    json: false,
    exitCode: 0,
    interrupt: () => {},
    outputFailed: () => {},
  }
  const code = await runCli(args, context)
  return {
    code,
    stdout: stdout.text(),
    stderr: stderr.text(),
    json: <T>() => JSON.parse(stdout.text()) as T,
    lines: () =>
      stdout
        .text()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

function collect() {
  const stream = new PassThrough()
  let text = ''
  stream.on('data', (part) => {
    text += part
  })
  return { stream, text: () => text }
}
