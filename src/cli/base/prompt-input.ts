/** Reads a prompt from the arguments, or from stdin if they are `-` or missing. */
import type { CliContext } from './context.ts'
import { usageError } from './usage-error.ts'

export async function readPrompt(
  words: readonly string[],
  context: CliContext,
  example = 'reprise run "Fix the failing test"',
): Promise<string> {
  const fromStdin = (words.length === 1 && words[0] === '-') || (words.length === 0 && !context.stdin.isTTY)
  if (words.length === 0 && !fromStdin) {
    throw usageError('the prompt is missing', `Write it after the command: ${example}`)
  }
  const prompt = fromStdin ? await readStdin(context, 'the prompt') : words.join(' ')
  if (prompt.trim() === '') {
    throw usageError(fromStdin ? 'the prompt on stdin is empty' : 'the prompt is empty')
  }
  return prompt
}

/** Reads stdin to its end, as UTF-8. */
export async function readStdin({ stdin }: CliContext, what: string): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stdin) parts.push(Buffer.from(part))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts))
  } catch {
    throw usageError(`${what} on stdin is not UTF-8 text`, 'Convert it first, for example with iconv.')
  }
}
