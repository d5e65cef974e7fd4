/** A client for the daemon that runs, whose requests fail after a short time. Nothing is started. */
import { type Client, createClient } from '../../client/client.ts'
import { daemonEndpoint, isAlive, locateDaemon } from '../../library/find-daemon.ts'
import type { CliContext } from '../base/context.ts'
import { homeOf } from './link.ts'

export function findRunningClient(context: CliContext, timeoutMs: number): Client | null {
  const home = homeOf(context)
  const found = locateDaemon(home)
  if (!found || found.socket === undefined || !isAlive(found.pid)) return null
  const endpoint = daemonEndpoint(home, found)
  const signal = AbortSignal.timeout(timeoutMs)
  return createClient({ ...endpoint, fetch: (url, init) => endpoint.fetch(url, { ...init, signal }) })
}
