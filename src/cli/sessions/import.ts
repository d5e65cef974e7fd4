/** `reprise sessions import`: takes in a session that was exported elsewhere. */
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type CliContext, notify, printJson, printLine } from '../base/context.ts'
import { usageError } from '../base/usage-error.ts'
import { connect } from '../daemon/connect.ts'
import { count, formatSize } from '../terminal/amounts.ts'

interface ImportOptions {
  dir?: string
  agent?: string
  asCopy?: true
}

export function defineImport(command: Command, context: CliContext): void {
  command
    .command('import')
    .summary('take in a session from a file that `export` wrote')
    .description(
      'Imports an exported session, with its history. The file is verified before anything is placed. An agent believes what its ' +
        'session says, so import only files from people you trust.',
    )
    .argument('<file>', 'the exported session')
    .option(
      '--dir <directory>',
      'the work directory in which it continues (default: its own, if it exists here)',
    )
    .option('--agent <name>', 'the agent that continues it')
    .option('--as-copy', 'give it a new id, beside the session that is here already')
    .action((file: string, options: ImportOptions) => importSession(file, options, context))
}

async function importSession(
  file: string,
  { dir, agent, asCopy }: ImportOptions,
  context: CliContext,
): Promise<void> {
  const workDir = dir === undefined ? undefined : resolve(context.cwd, dir)
  const source = await open(resolve(context.cwd, file)).catch((error: Error) => {
    throw usageError(`cannot read ${file}: ${error.message}`)
  })
  try {
    if (!(await source.stat()).isFile()) throw usageError(`${file} is not a file`)
    const { client } = await connect(context)
    const bytes = source.readableWebStream({ autoClose: false }) as ReadableStream<Uint8Array>
    const done = await client.importSession(bytes, { workDir, agent, asCopy })
    if (context.json) return await printJson(context, done)
    const size = `${count(done.turns, 'turn')}, ${formatSize(done.bytes)}`
    await printLine(context, `Imported ${done.session} (${size}) into ${done.workDir}.`)
    const how = done.conversation
      ? `reprise chat ${done.conversation}`
      : `reprise run --session ${done.session} "…"`
    notify(context, `Continue with: ${how}`)
  } finally {
    await source.close()
  }
}
