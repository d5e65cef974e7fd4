/** A command in a real terminal: a pseudo-terminal that `script` (util-linux) makes. What is typed are keys. */
import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'

export interface Pty {
  type: (keys: string) => void
  /** Resolves when the text comes on the screen after all that was waited for before. */
  shows: (text: string) => Promise<void>
  /** Changes the width, as a person who resizes the window does: the kernel tells the program (SIGWINCH). */
  resize: (columns: number) => void
  screen: () => string
  code: Promise<number | null>
  close: () => void
}

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`

/** The terminal that `script` has made for its child. */
function terminalOf(script: number): string {
  const [child] = readFileSync(`/proc/${script}/task/${script}/children`, 'utf8').trim().split(' ')
  return readlinkSync(`/proc/${child}/fd/0`)
}

export function openPty(
  args: string[],
  { env, cwd, columns = 100 }: { env: Record<string, string>; cwd: string; columns?: number },
): Pty {
  const command = `stty cols ${columns} rows 30; exec ${args.map(quote).join(' ')}`
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let raw = ''
  let seen = 0
  const watchers = new Set<() => void>()
  const screen = () => stripVTControlCharacters(raw)
  const look = () => {
    for (const watcher of watchers) watcher()
  }
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    raw += part
    look()
  })
  let ended = false
  const code = new Promise<number | null>((resolve) => {
    child.on('close', (status) => {
      ended = true
      resolve(status)
      look()
    })
  })
  return {
    type: (keys) => child.stdin.write(keys),
    resize: (width) => execFileSync('stty', ['-F', terminalOf(child.pid ?? 0), 'cols', String(width)]),
    screen,
    code,
    shows: (text) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          const at = screen().indexOf(text, seen)
          if (at === -1 && !ended) return
          watchers.delete(watch)
          if (at === -1) return reject(new Error(`ended without showing ${text}:\n${screen()}`))
          seen = at + text.length
          resolve()
        }
        watchers.add(watch)
        watch()
      }),
    close: () => child.kill('SIGKILL'),
  }
}
