/**
 * Says why a keeper could not be started. The system names only an error, and the same one for the shell and for the work
 * directory, so both are looked at. The error stays the cause: a temporary one is waited out (core/system-error.ts).
 */
import { accessSync, constants, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { RepriseError } from '../contract/errors.ts'

export const SHELL = '/bin/sh'
export const KEEPER = fileURLToPath(new URL('keeper.sh', import.meta.url))

export function explainFailedStart(
  cause: NodeJS.ErrnoException,
  { program, workDir }: { program: string; workDir: string },
): RepriseError {
  const directory = problemOfDirectory(workDir)
  if (directory !== null) {
    return new RepriseError('work-dir-unusable', `cannot start an agent in ${workDir}: ${directory}`, {
      hint: 'Make the directory available again, or use another one.',
      cause,
    })
  }
  const unavailable = (what: string, hint?: string) =>
    new RepriseError('agent-unavailable', `cannot start ${program}: ${what}`, {
      ...(hint === undefined ? {} : { hint }),
      cause,
    })
  if (!isUsable(KEEPER, constants.R_OK))
    return unavailable(`${KEEPER} of this Reprise cannot be read`, 'Install Reprise again.')
  if (!isUsable(SHELL, constants.X_OK))
    return unavailable(`${SHELL} is missing or not executable`, `Agents need a POSIX shell at ${SHELL}.`)
  if (cause.code === 'E2BIG')
    return unavailable('its arguments and environment are longer than this system allows')
  return unavailable(cause.message)
}

function problemOfDirectory(path: string): string | null {
  try {
    if (!statSync(path).isDirectory()) return 'it is not a directory'
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return 'the directory does not exist'
    return code === 'ENOTDIR' ? 'a part of the path is not a directory' : message
  }
  return isUsable(path, constants.X_OK) ? null : 'this user may not enter the directory'
}

function isUsable(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
