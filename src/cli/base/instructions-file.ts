import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CliContext } from './context.ts'
import { usageError } from './usage-error.ts'

/** Reads a file with instructions for agents, or with a description of the environment. */
export async function readInstructions(
  path: string,
  { cwd }: CliContext,
  what = 'instructions',
): Promise<string> {
  let text: string
  try {
    text = await readFile(resolve(cwd, path), 'utf8')
  } catch (error) {
    throw usageError(
      `cannot read the file with the ${what}: ${error instanceof Error ? error.message : error}`,
    )
  }
  if (text.trim() === '') throw usageError(`the file ${path} (${what}) is empty`)
  return text
}
