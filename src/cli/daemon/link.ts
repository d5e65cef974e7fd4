/** The daemon of the home that a command uses. */
import { join } from 'node:path'
import { resolveHome } from '../../config/home.ts'
import { RepriseError } from '../../contract/errors.ts'
import { locateDaemon } from '../../library/find-daemon.ts'
import type { CliContext } from '../base/context.ts'

export { type DaemonLink, findDaemon, isAlive } from '../../library/find-daemon.ts'

export function homeOf(context: CliContext): string {
  return resolveHome(context)
}

/** Adds the file and a remedy to the error of a refused token. Other errors are returned unchanged. */
export function explainRefusal(error: RepriseError, home: string): RepriseError {
  const daemon = error.code === 'unauthorized' ? locateDaemon(home) : null
  if (!daemon) return error
  const message = `the daemon (pid ${daemon.pid}) does not accept the token in ${join(home, 'token')}`
  return new RepriseError('unauthorized', message, {
    hint: `The file was changed after the daemon started. End the daemon with: kill ${daemon.pid}; running agents continue, and the next \`reprise up\` creates a token if there is none.`,
    cause: error,
  })
}
