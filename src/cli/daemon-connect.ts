/** What a command that needs the daemon calls first. */
import { type CliContext, notify } from './context.ts'
import { type DaemonLink, findDaemon, homeOf } from './daemon-link.ts'
import { styleFor } from './terminal.ts'

/** The daemon; started in the background if none runs. */
export async function connect(context: CliContext): Promise<DaemonLink> {
  const home = homeOf(context)
  const running = await findDaemon(home)
  if (running) return running
  const { startInBackground } = await import('./daemon-process.ts')
  const { link, notices } = await startInBackground(context, home)
  const { dim } = styleFor(context.stderr, context.env)
  for (const line of [`Started the daemon at ${link.url} (pid ${link.pid}).`, ...notices]) {
    notify(context, dim(line))
  }
  return link
}
