/** Entry point: the only file of the CLI that touches the process it runs in. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { processEnvironment } from '../config/environment.ts'
import type { CliContext } from './base/context.ts'
import { EXIT } from './base/exit-code.ts'
import { runCli } from './program.ts'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** A process whose directory was deleted has none. */
function currentDirectory(): string {
  try {
    return process.cwd()
  } catch {
    process.stderr.write(
      'error: the current directory does not exist any more\nhint: Change to another directory.\n',
    )
    process.exit(EXIT.failed)
  }
}

const context: CliContext = {
  env: processEnvironment(),
  cwd: currentDirectory(),
  version: manifest.version,
  entry: process.argv[1] ?? fileURLToPath(import.meta.url),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  json: false,
  exitCode: EXIT.done,
  interrupt: () => process.exit(EXIT.interrupted),
  // EPIPE: the reader of our output has closed it, as in `reprise runs | head -1`.
  outputFailed: ({ code, message }) => {
    if (code === 'EPIPE') process.exit(EXIT.done)
    process.stderr.write(`error: cannot write the output: ${message}\n`)
    process.exit(EXIT.failed)
  },
}

process.on('SIGINT', () => context.interrupt())
process.stdout.on('error', (error: NodeJS.ErrnoException) => context.outputFailed(error))
// Messages for people must not end what they are about.
process.stderr.on('error', () => {})

// Not process.exit: it would discard output that is still buffered for a pipe.
process.exitCode = await runCli(process.argv.slice(2), context)
