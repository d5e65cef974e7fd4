/** Starts the runner of one call (runner.sh), which does not depend on this process any more. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProcessIdentity } from '../proc.ts'
import { replyPath } from './asked-folder.ts'
import type { Verdict } from './call.ts'
import type { CallFolder } from './call-folder.ts'

const RUNNER = fileURLToPath(new URL('runner.sh', import.meta.url))

export interface RunnerInput {
  folder: CallFolder
  asked: string
  root: ProcessIdentity
  verdict: Verdict & { decision: 'run' }
}

export interface Runner {
  /** Settles when the runner has ended. Before that, it has written down the end of the program. */
  exited: Promise<unknown>
  hasExited: () => boolean
}

/** Throws an error with a reason for people if nothing was started. */
export async function startRunner({ folder, asked, root, verdict }: RunnerInput): Promise<Runner> {
  checkExecutable(verdict.program)
  const { request } = folder
  const log = openSync(join(folder.path, 'log'), 'a', 0o600)
  try {
    const child = spawn(
      '/bin/sh',
      [
        ...[RUNNER, folder.path, String(root.pid), root.startTicks, String(request.pid)],
        ...[replyPath(asked, folder.id), request.stdin, request.stdout, request.stderr],
        ...[verdict.after ?? '', verdict.program, ...verdict.args],
      ],
      { cwd: verdict.cwd, env: verdict.env, detached: true, stdio: ['ignore', log, log] },
    )
    const exited = once(child, 'exit').catch(() => {})
    await once(child, 'spawn')
    child.unref()
    return { exited, hasExited: () => child.exitCode !== null || child.signalCode !== null }
  } finally {
    closeSync(log)
  }
}

function checkExecutable(path: string): void {
  try {
    accessSync(path, constants.X_OK)
    if (statSync(path).isFile()) return
  } catch {
    // Said below.
  }
  throw new Error(`${path} is not installed, or is not a program`)
}
