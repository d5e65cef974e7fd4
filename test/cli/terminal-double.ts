/**
 * A terminal in memory with the CLI in this very process on it. What is typed goes to stdin key by key as from a real
 * one, and Ctrl-C is a key while a line is read and a signal (`interrupt`) otherwise.
 */

import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import type { CliContext } from '../../src/cli/base/context.ts'
import { runCli } from '../../src/cli/program.ts'
import { readVersion } from '../../src/library/version.ts'

export interface TerminalDouble {
  context: CliContext
  type: (keys: string) => void
  /** Resolves when the text comes on the screen after all that was waited for before; returns what came until then. */
  shows: (text: string) => Promise<string>
  /** All that came on the screen. */
  screen: () => string
}

const PATIENCE_MS = 90_000

export const KEYS = { enter: '\r', ctrlC: '\u0003', ctrlD: '\u0004' }

export function createTerminal(env: Record<string, string>, cwd: string): TerminalDouble {
  let raw = ''
  let seen = 0
  const watchers = new Set<() => void>()
  const output = () => {
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 120 })
    stream.on('data', (part) => {
      raw += part
      for (const watcher of watchers) watcher()
    })
    return stream
  }
  const screen = () => stripVTControlCharacters(raw)
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const context: CliContext = {
    env: { ...env, NO_COLOR: '1' },
    cwd,
    version: readVersion(),
    entry: '',
    stdin,
    stdout: output(),
    stderr: output(),
    json: false,
    exitCode: 0,
    outputFailed: () => {},
    interrupt: () => {
      throw new Error('nobody minds Ctrl-C')
    },
  }
  return {
    context,
    type: (keys) => stdin.write(keys),
    screen,
    shows: (text) =>
      new Promise((resolve, reject) => {
        const impatience = setTimeout(() => {
          watchers.delete(look)
          reject(new Error(`gave up waiting for ${JSON.stringify(text)} on:\n${screen()}`))
        }, PATIENCE_MS)
        const look = () => {
          const at = screen().indexOf(text, seen)
          if (at === -1) return
          watchers.delete(look)
          clearTimeout(impatience)
          const before = screen().slice(seen, at)
          seen = at + text.length
          resolve(before)
        }
        watchers.add(look)
        look()
      }),
  }
}

export interface ChatDouble extends TerminalDouble {
  /** Types a line and resolves with what comes until the next prompt. */
  enter: (line: string, prompt?: string) => Promise<string>
  interrupt: () => void
  code: Promise<number>
}

/** `reprise chat` on such a terminal, at its first prompt. */
export async function openChat(
  args: string[],
  { env, cwd }: { env: Record<string, string>; cwd: string },
): Promise<ChatDouble> {
  const terminal = createTerminal(env, cwd)
  const code = runCli(['chat', ...args], terminal.context)
  return {
    ...terminal,
    code,
    interrupt: () => terminal.context.interrupt(),
    enter: async (line, prompt = 'claude › ') => {
      terminal.type(`${line}${KEYS.enter}`)
      return terminal.shows(prompt)
    },
  }
}
