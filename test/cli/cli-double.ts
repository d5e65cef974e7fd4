/** The CLI in this very process, in front of the server with the engine double: for commands, not for what they start. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import type { CliContext } from '../../src/cli/base/context.ts'
import { runCli } from '../../src/cli/program.ts'
import { type ServerUnderTest, startServer, TOKEN } from '../server/daemon-double.ts'

export interface Answer {
  code: number
  stdout: string
  stderr: string
  json: <T = Record<string, unknown>>() => T
  /** Of NDJSON. */
  lines: () => Record<string, unknown>[]
}

export interface CliDouble extends Pick<ServerUnderTest, 'engine'> {
  home: string
  workDir: string
  run: (args: string[], options?: { stdin?: string }) => Promise<Answer>
  close: () => Promise<void>
}

/** With `up: false` there is no daemon, and nothing that would start one is tested. */
export async function createCliDouble({ up = true }: { up?: boolean } = {}): Promise<CliDouble> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-cli-')))
  const [home, workDir] = [join(root, 'home'), join(root, 'work')]
  mkdirSync(workDir)
  const server = await startServer()
  if (up) {
    mkdirSync(home, { mode: 0o700 })
    const file = { pid: process.pid, url: server.url, startedAt: new Date().toISOString() }
    writeFileSync(join(home, 'daemon.json'), JSON.stringify(file))
    writeFileSync(join(home, 'token'), TOKEN)
  }
  return {
    engine: server.engine,
    home,
    workDir,
    run: async (args, { stdin } = {}) => {
      const [stdout, stderr] = [collect(), collect()]
      const context: CliContext = {
        env: { HOME: root, REPRISE_HOME: home },
        cwd: workDir,
        version: '0.0.0-test',
        entry: '',
        stdin: Readable.from(stdin === undefined ? [] : [stdin]),
        stdout: stdout.stream,
        stderr: stderr.stream,
        json: false,
        exitCode: 0,
        interrupt: () => {},
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
    },
    close: async () => {
      await server.close()
      rmSync(root, { recursive: true, force: true })
    },
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
