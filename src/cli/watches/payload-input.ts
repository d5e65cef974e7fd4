/** Reads the JSON payload of a trigger from a file or stdin. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CliContext } from '../base/context.ts'
import { readStdin } from '../base/prompt-input.ts'
import { usageError } from '../base/usage-error.ts'

export async function readPayload(from: string, context: CliContext): Promise<unknown> {
  const text = from === '-' ? await readStdin(context, 'the payload') : await readText(from, context)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usageError(
      `the payload ${from === '-' ? 'on stdin' : `in ${from}`} is not JSON: ${(error as Error).message}`,
      'Use --reason for plain text.',
    )
  }
}

async function readText(file: string, { cwd }: CliContext): Promise<string> {
  try {
    return await readFile(resolve(cwd, file), 'utf8')
  } catch (error) {
    throw usageError(`cannot read the payload: ${(error as Error).message}`)
  }
}
