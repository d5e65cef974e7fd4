/** Runs ./bin/reprise as a user does, in a home of its own, and cleans up what it started. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answer, runInside } from './inside.ts'

const BIN = new URL('../../bin/reprise', import.meta.url).pathname

export interface Result {
  code: number | null
  stdout: string
  stderr: string
  json: <T = Record<string, unknown>>() => T
}

export interface Running {
  pid: number
  result: Promise<Result>
  kill: (signal: NodeJS.Signals) => void
  /** Resolves when stdout or stderr contains the text. */
  says: (text: string) => Promise<void>
}

interface StartOptions {
  stdin?: string
  env?: Record<string, string>
  /** The launcher of another installation. */
  bin?: string
}

export interface Cli {
  home: string
  workDir: string
  start: (args: string[], options?: StartOptions) => Running
  run: (args: string[], options?: StartOptions) => Promise<Result>
  /** The same in this process, for what does not depend on a process of its own; a daemon has to be up. */
  inside: (args: string[], options?: { stdin?: string; env?: Record<string, string> }) => Promise<Answer>
  daemonPid: () => number
  close: () => Promise<void>
}

export function createCli(env: Record<string, string> = {}): Cli {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'reprise-cli-')))
  const home = join(root, 'home')
  const machine = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(ANTHROPIC|CLAUDE|REPRISE)/.test(name)),
  )
  // HOME of its own: no credentials, no configuration of the machine.
  const own = { ...machine, HOME: root, REPRISE_HOME: home, REPRISE_PORT: '0', ...env }
  const start: Cli['start'] = (args, options = {}) => {
    const child = spawn(options.bin ?? BIN, args, {
      cwd: root,
      env: { ...own, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    const watchers = new Set<() => void>()
    const collect = (add: (text: string) => void) => (part: string) => {
      add(part)
      for (const watcher of watchers) watcher()
    }
    child.stdout.setEncoding('utf8').on(
      'data',
      collect((part) => (stdout += part)),
    )
    child.stderr.setEncoding('utf8').on(
      'data',
      collect((part) => (stderr += part)),
    )
    child.stdin.on('error', () => {}).end(options.stdin ?? '')
    const result = new Promise<Result>((resolve) => {
      child.on('close', (code) => {
        resolve({ code, stdout, stderr, json: <T>() => JSON.parse(stdout) as T })
        for (const watcher of watchers) watcher()
      })
    })
    return {
      pid: child.pid!,
      result,
      kill: (signal) => child.kill(signal),
      says: (text) =>
        new Promise((resolve, reject) => {
          const look = () => {
            if (stdout.includes(text) || stderr.includes(text)) resolve()
            else if (child.exitCode !== null)
              reject(new Error(`ended without saying ${text}: ${stdout}${stderr}`))
          }
          watchers.add(look)
          look()
        }),
    }
  }
  const run: Cli['run'] = (args, options) => start(args, options).result
  const daemonPid = () => (JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as { pid: number }).pid
  return {
    home,
    workDir: root,
    start,
    run,
    inside: (args, options = {}) =>
      runInside(args, { env: { ...own, ...options.env }, cwd: root, stdin: options.stdin }),
    daemonPid,
    close: async () => {
      await run(['down', '--cancel'])
      rmSync(root, { recursive: true, force: true })
    },
  }
}
