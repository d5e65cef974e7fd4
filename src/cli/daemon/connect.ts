/** Connects a command to the daemon. */
import type { Client } from '../../client/client.ts'
import { RepriseError } from '../../contract/errors.ts'
import { type CliContext, notify } from '../base/context.ts'
import { styleFor } from '../terminal/terminal.ts'
import { type DaemonLink, findDaemon, homeOf } from './link.ts'
import { noticeVersion } from './version-notice.ts'

/** Finds the daemon, and starts it in the background if none runs. */
export async function connect(context: CliContext): Promise<DaemonLink> {
  const home = homeOf(context)
  const running = await findDaemon(home)
  if (running) {
    noticeVersion(context, running)
    return running
  }
  const { startInBackground } = await import('./process.ts')
  const { link, notices } = await startInBackground(context, home)
  const { dim } = styleFor(context.stderr, context.env)
  for (const line of [`Started the daemon at ${link.url} (pid ${link.pid}).`, ...notices]) {
    notify(context, dim(line))
  }
  return link
}

export type AskDaemon = <T>(work: (client: Client) => Promise<T>) => Promise<T>

/**
 * For a command that may outlive the daemon. If the daemon ends during a request, the request is repeated with the next
 * one. The work must therefore be repeatable, or carry an idempotency key.
 */
export async function connectLastingly(context: CliContext): Promise<AskDaemon> {
  let { client } = await connect(context)
  return async (work) => {
    try {
      return await work(client)
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'daemon-unreachable') throw error
      client = (await connect(context)).client
      return work(client)
    }
  }
}
