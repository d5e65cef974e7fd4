/**
 * Finds the daemon of a home, and reaches it over its Unix socket (daemon-socket.ts). The token is not sent to a port of
 * the machine, where any other program could be listening.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Client, createClient } from '../client/client.ts'
import type { Fetch } from '../client/request.ts'
import { identifyHome } from '../config/home.ts'
import { RepriseError } from '../contract/errors.ts'
import type { DaemonFile } from '../contract/http.ts'
import { checkSocket, UntrustedSocket } from './daemon-socket.ts'
import { fetchOver } from './socket-fetch.ts'

export interface DaemonLink {
  client: Client
  url: string
  pid: number
  /** The version of the daemon. */
  version: string
}

const HEALTH_TIMEOUT_MS = 5000

/** The daemon of this home, or null if none runs. Throws if it accepts the connection but does not answer. */
export async function findDaemon(home: string): Promise<DaemonLink | null> {
  const found = locateDaemon(home)
  if (!found || !isAlive(found.pid)) return null
  const { url, pid, socket } = found
  const client = createClient(daemonEndpoint(home, found))
  const patience = AbortSignal.timeout(HEALTH_TIMEOUT_MS)
  const asked = socket === undefined ? askPort(url, patience) : client.health({ signal: patience })
  const health = await asked.catch((error: unknown) => {
    if (error instanceof UntrustedSocket) throw error
    return null
  })
  if (health?.pid === pid && socket === undefined) throw olderDaemon(pid)
  if (health?.pid === pid) return { client, url, pid, version: String(health.version) }
  // Refused at once: the process with that pid is not the daemon.
  if (health || !patience.aborted) return null
  throw new RepriseError(
    'daemon-unreachable',
    `the daemon (pid ${pid}) does not answer at ${socket ?? url}`,
    {
      hint: 'See `reprise doctor`. If the daemon hangs, end it with: reprise down --force',
    },
  )
}

/** What a client needs to call the daemon of a home. */
export function daemonEndpoint(home: string, { url, token }: { url: string; token: string }) {
  return { url, token, locate: async () => locateDaemon(home), fetch: fetchDaemon(home) }
}

/** `fetch` over the socket of whichever daemon runs on the home. */
function fetchDaemon(home: string): Fetch {
  return fetchOver(() => {
    const socket = locateDaemon(home)?.socket
    if (socket === undefined) throw new Error(`no daemon runs on ${home}`)
    checkSocket(socket)
    return socket
  })
}

/** The daemon that `daemon.json` describes. It may not run any more. */
export function locateDaemon(home: string): (DaemonFile & { token: string }) | null {
  try {
    const file = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as Partial<DaemonFile>
    const { pid, url, startedAt, homeId, socket } = file
    if (!Number.isInteger(pid) || typeof url !== 'string' || typeof startedAt !== 'string') return null
    // In a copy of a home, the file describes the daemon of the original.
    if (homeId !== undefined && homeId !== identifyHome(home)) return null
    const token = readFileSync(join(home, 'token'), 'utf8').trim()
    return {
      pid: pid as number,
      url,
      startedAt,
      token,
      // The real path, which the daemon uses too, may be short enough where the given one is not.
      ...(typeof socket === 'string' ? { socket: resolve(realpathSync(home), socket) } : {}),
    }
  } catch {
    return null
  }
}

/** Asks who listens on the port that an older daemon published. Nothing secret is sent there. */
async function askPort(url: string, signal: AbortSignal): Promise<{ pid?: unknown; version?: unknown }> {
  const response = await fetch(new URL('/api/health', url), { signal })
  return (await response.json()) as { pid?: unknown; version?: unknown }
}

const olderDaemon = (pid: number) =>
  new RepriseError('daemon-unreachable', `the daemon (pid ${pid}) is of an older version and has no socket`, {
    hint: `End it with: kill ${pid}; running agents continue, and the next command starts a new daemon.`,
  })

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

/** Ended, but not yet collected by its parent, which may never happen in a container. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return false
  }
}
