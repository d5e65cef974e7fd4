/** Starts the daemon in the background and waits until it reports that it is ready, or why it failed. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureHome } from '../../config/home.ts'
import { RepriseError } from '../../contract/errors.ts'
import { isHeldByDaemon } from '../../library/held.ts'
import { type CliContext, notify } from '../base/context.ts'
import { type Ready, readHandshake, readWorking } from './handshake.ts'
import { type DaemonLink, findDaemon } from './link.ts'

const READY_WITHIN_MS = 30_000
/** After the daemon has said that it does something that takes long, such as copying a large database. */
const WORK_WITHIN_MS = 30 * 60_000
const LOG_LIMIT_BYTES = 20 * 1024 * 1024

export interface Program {
  command: string
  args: string[]
  cwd: string
  env: Record<string, string | undefined>
}

/** This version's daemon. `options` are further options of `reprise up`. */
export const ownProgram = (context: CliContext, home: string, options: readonly string[] = []): Program => ({
  command: process.execPath,
  args: [...process.execArgv, context.entry, 'up', '--foreground', ...options],
  cwd: context.cwd,
  env: { ...context.env, REPRISE_HOME: home },
})

export interface Started {
  link: DaemonLink
  notices: string[]
  simulator: string | null
}

/** `options` are further options of `reprise up`. */
export const startInBackground = (context: CliContext, home: string, options: readonly string[] = []) =>
  startProgram(context, home, ownProgram(context, home, options))

export async function startProgram(context: CliContext, home: string, program: Program): Promise<Started> {
  const until = performance.now() + READY_WITHIN_MS
  for (;;) {
    try {
      const { url, notices, simulator } = await launch(context, home, program)
      const link = await findDaemon(home)
      if (link) return { link, notices, simulator }
      throw new RepriseError(
        'daemon-unreachable',
        `the daemon at ${url} ended right after it started`,
        seeLog(home),
      )
    } catch (error) {
      if (!isHeldByDaemon(error) || performance.now() > until) throw error
    }
    // Another daemon holds the home: either it is starting and can be used, or it is ending and ours is tried again.
    const other = await findDaemon(home)
    if (other) return { link: other, notices: [], simulator: (await other.client.status()).simulator }
    await sleep(50)
  }
}

async function launch(context: CliContext, home: string, program: Program): Promise<Ready> {
  const notes = ensureHome(home)
  const log = openLog(join(home, 'daemon.log'))
  const { command, args, cwd, env } = program
  const child = spawn(command, args, {
    cwd,
    env,
    // In a process group of its own, so that Ctrl-C does not reach it.
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  try {
    const ready = readHandshake(await lastMessage(child, home, context))
    return { ...ready, notices: [...new Set([...notes, ...ready.notices])] }
  } finally {
    if (child.connected) child.disconnect()
    child.unref()
  }
}

function lastMessage(child: ChildProcess, home: string, context: CliContext): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (what: string) => reject(new RepriseError('daemon-unreachable', what, seeLog(home)))
    const limit = (ms: number) =>
      setTimeout(() => {
        child.kill()
        fail(`the daemon was not ready within ${ms / 1000} s`)
      }, ms)
    let timer = limit(READY_WITHIN_MS)
    child.on('message', (message) => {
      clearTimeout(timer)
      const working = readWorking(message)
      if (working === null) return resolve(message)
      if (!context.json) notify(context, working)
      timer = limit(WORK_WITHIN_MS)
    })
    child.once('error', (error) => fail(`the daemon could not be started: ${error.message}`))
    child.once('exit', (code, signal) => {
      clearTimeout(timer)
      fail(`the daemon ended while starting (${signal ?? `exit code ${code}`})`)
    })
  })
}

const seeLog = (home: string) => ({
  hint: `See its log ${join(home, 'daemon.log')}, or run \`reprise doctor\`.`,
})

/** Opens the log for appending. A log that is too large is renamed; one older log is kept. */
function openLog(path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOG_LIMIT_BYTES) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}
