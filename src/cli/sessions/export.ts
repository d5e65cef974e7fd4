/** `reprise sessions export`: writes a session into one file. */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { Command } from 'commander'
import { RepriseError } from '../../contract/errors.ts'
import { type CliContext, printJson, printLine } from '../base/context.ts'
import { sessionArgument } from '../base/id-argument.ts'
import { usageError } from '../base/usage-error.ts'
import { connect } from '../daemon/connect.ts'
import { formatSize } from '../terminal/amounts.ts'

interface ExportOptions {
  output?: string
  redact?: true
  force?: true
}

export function defineExport(command: Command, context: CliContext): void {
  command
    .command('export')
    .summary('write a session into one file, to be imported elsewhere')
    .description(
      'Writes the transcript and the other files of a session, what Reprise knows of it, and the messages of its conversation ' +
        'into one file with checksums. The file may contain secrets that the agent has seen: --redact removes those that ' +
        'Reprise recognises.',
    )
    .argument('<id>', "id of a session (ses_01J…), or the agent's own id", sessionArgument)
    .option('-o, --output <file>', 'the file; - is stdout (default: <id>.reprise-session.gz)')
    .option('--redact', 'remove secrets')
    .option('--force', 'replace an existing file')
    .action((id: string, options: ExportOptions) => exportSession(id, options, context))
}

async function exportSession(id: string, options: ExportOptions, context: CliContext): Promise<void> {
  const { output = `${id}.reprise-session.gz`, redact = false, force = false } = options
  if (output === '-' && context.stdout.isTTY) {
    throw usageError('the export is not text', 'Write it into a file: -o FILE')
  }
  const { client } = await connect(context)
  const file = Readable.fromWeb((await client.exportSession(id, { redact })) as NodeReadableStream)
  if (output === '-') return pipeline(file, context.stdout as Writable, { end: false })
  const path = resolve(context.cwd, output)
  await writeWhole(file, path, force)
  const { size } = await stat(path)
  if (context.json) return printJson(context, { session: id, file: path, bytes: size, redacted: redact })
  await printLine(context, `Exported ${id} to ${output} (${formatSize(size)}${redact ? ', redacted' : ''}).`)
}

/** The file gets its name when it is complete and on the disk. */
async function writeWhole(file: Readable, path: string, replace: boolean): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.${randomUUID()}.partial`)
  try {
    await pipeline(file, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }))
    // A link does not replace an existing file.
    await (replace ? rename(partial, path) : link(partial, path))
  } catch (error) {
    throw explain(error, path)
  } finally {
    await rm(partial, { force: true })
  }
}

function explain(error: unknown, path: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EEXIST') return usageError(`${path} exists`, 'Give another name, or replace it with --force.')
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    return new RepriseError('home-unusable', `there is no room for ${path}: ${message}`, {
      hint: 'Nothing was written under that name. Free some space, or write it elsewhere: -o FILE',
      cause: error,
    })
  }
  if (code?.startsWith('E')) {
    return new RepriseError('usage', `cannot write ${path}: ${message}`, { cause: error })
  }
  if (error instanceof RepriseError) return error
  return new RepriseError('internal', `the export broke off: ${message}`, {
    hint: 'Nothing was written under that name. `reprise logs` may tell why.',
    cause: error,
  })
}
