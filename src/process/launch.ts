/** Starts an agent under its keeper, in its own process session. Neither depends on this process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AttemptDir, KEEPER_LOG } from './attempt-dir.ts'
import { explainFailedStart, KEEPER, SHELL } from './failed-start.ts'
import { planLockLimit, readOwnLimits } from './lock-limit.ts'
import { identify, MARKER, type ProcessIdentity } from './proc.ts'

export interface LaunchInput {
  attemptId: string
  dir: AttemptDir
  program: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  workDir: string
}

/** Returns the keeper's identity. Its pid is also the process group and session of the agent. */
export async function launch(input: LaunchInput): Promise<ProcessIdentity> {
  writeLimit(input)
  const log = openSync(join(input.dir.path, KEEPER_LOG), 'a', 0o600)
  try {
    const { pid } = await start(input, log).catch((cause: unknown) => {
      throw explainFailedStart(cause as NodeJS.ErrnoException, input)
    })
    const identity = pid === undefined ? null : identify(pid)
    // The keeper has already ended; its exit code is in the folder.
    return identity ?? { pid: pid ?? 0, startTicks: '', bootId: '' }
  } finally {
    closeSync(log)
  }
}

/** Rejects also with errors that `spawn` throws. */
async function start(input: LaunchInput, log: number): Promise<ChildProcess> {
  accessSync(KEEPER, constants.R_OK)
  const child = spawn(SHELL, [KEEPER, input.dir.path, input.program, ...input.args], {
    cwd: input.workDir,
    env: { ...input.env, [MARKER]: input.attemptId },
    detached: true,
    stdio: ['ignore', 'ignore', log],
  })
  await once(child, 'spawn')
  child.unref()
  return child
}

/**
 * The keeper sets this limit for itself before it starts the agent, so that every process of the agent can be found.
 */
function writeLimit({ attemptId, dir }: LaunchInput): void {
  const limit = planLockLimit(attemptId, readOwnLimits())
  if (limit === null) return
  const text = limit.softOnly ? `${limit.value} -S\n` : `${limit.value}\n`
  writeFileSync(join(dir.path, 'limit'), text, { mode: 0o600 })
}
