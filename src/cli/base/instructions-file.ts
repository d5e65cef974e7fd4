import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CliContext } from './context.ts'
import { usageError } from './usage-error.ts'

/** The text of a file that tells agents how to behave, or where they are. */
export async function readInstructions(
  path: string,
  { cwd }: CliContext,
  what = 'instructions',
): Promise<string> {
  let text: string
  try {
    text = await readFile(resolve(cwd, path), 'utf8')
  } catch (error) {
    throw usageError(`cannot read the ${what}: ${error instanceof Error ? error.message : error}`)
  }
  if (text.trim() === '') throw usageError(`the ${what} in ${path} are empty`)
  return text
}
