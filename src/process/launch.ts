/** Starts an agent under its keeper, in its own process session. Neither depends on this process. */
import { spawn } from 'node:child_process'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RepriseError } from '../contract/errors.ts'
import { type AttemptDir, KEEPER_LOG } from './attempt-dir.ts'
import { planLockLimit, readOwnLimits } from './lock-limit.ts'
import { identify, MARKER, type ProcessIdentity } from './proc.ts'

const KEEPER = fileURLToPath(new URL('keeper.sh', import.meta.url))

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
    const child = spawn('/bin/sh', [KEEPER, input.dir.path, input.program, ...input.args], {
      cwd: input.workDir,
      env: { ...input.env, [MARKER]: input.attemptId },
      detached: true,
      stdio: ['ignore', 'ignore', log],
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (cause) => {
        reject(
          new RepriseError('agent-unavailable', `could not start ${input.program}: ${cause.message}`, {
            cause,
          }),
        )
      })
    })
    child.unref()
    const { pid } = child
    const identity = pid === undefined ? null : identify(pid)
    // The keeper has already ended; its exit code is in the folder.
    return identity ?? { pid: pid ?? 0, startTicks: '', bootId: '' }
  } finally {
    closeSync(log)
  }
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
