/** Asks a person on the terminal, a line at a time. Ctrl-D declines to answer; Ctrl-C is passed on. */
import { createInterface } from 'node:readline/promises'
import type { CliContext } from '../base/context.ts'

export interface Dialogue {
  /** Rejects with an AbortError if the person declines, or if `taken` is aborted. */
  ask: (prompt: string) => Promise<string>
  declined: () => boolean
  close: () => void
}

/** Whether there is a person who can be asked. */
export const isInteractive = ({ stdin, stderr, json }: CliContext) =>
  stdin.isTTY === true && stderr.isTTY === true && !json

/** `taken`: the answer is not needed any more. */
export function openDialogue(context: CliContext, taken?: AbortSignal): Dialogue {
  const lines = createInterface({ input: context.stdin, output: context.stderr as NodeJS.WritableStream })
  lines.on('SIGINT', () => context.interrupt())
  const declined = new AbortController()
  lines.on('close', () => declined.abort())
  const signal = taken ? AbortSignal.any([taken, declined.signal]) : declined.signal
  return {
    ask: (prompt) => lines.question(prompt, { signal }),
    declined: () => declined.signal.aborted && taken?.aborted !== true,
    close: () => lines.close(),
  }
}
