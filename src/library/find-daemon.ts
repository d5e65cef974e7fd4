/** Finds the daemon of a home. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '../client/client.ts'
import { identifyHome } from '../config/home.ts'
import { RepriseError } from '../contract/errors.ts'
import type { DaemonFile } from '../contract/http.ts'

export interface DaemonLink {
  client: Client
  url: string
  pid: number
}

const HEALTH_TIMEOUT_MS = 5000

/** The daemon of this home, or null if none runs. Throws if it accepts the connection but does not answer. */
export async function findDaemon(home: string): Promise<DaemonLink | null> {
  const found = locateDaemon(home)
  if (!found || !isAlive(found.pid)) return null
  const { url, token, pid } = found
  const client = createClient({ url, token, locate: async () => locateDaemon(home) })
  const patience = AbortSignal.timeout(HEALTH_TIMEOUT_MS)
  const health = await client.health({ signal: patience }).catch(() => null)
  // The token is sent only to the process that daemon.json names, not to another one that has its port or pid now.
  if (health?.pid === pid) return { client, url, pid }
  // Refused at once: the process with that pid is not the daemon.
  if (health || !patience.aborted) return null
  throw new RepriseError('daemon-unreachable', `the daemon (pid ${pid}) does not answer at ${url}`, {
    hint: `See \`reprise doctor\`. If the daemon hangs, end it with: kill ${pid}`,
  })
}

/** The daemon that `daemon.json` describes. It may not run any more. */
export function locateDaemon(home: string): (DaemonFile & { token: string }) | null {
  try {
    const file = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as Partial<DaemonFile>
    const { pid, url, startedAt, homeId } = file
    if (!Number.isInteger(pid) || typeof url !== 'string' || typeof startedAt !== 'string') return null
    // In a copy of a home, the file describes the daemon of the original.
    if (homeId !== undefined && homeId !== identifyHome(home)) return null
    const token = readFileSync(join(home, 'token'), 'utf8').trim()
    return { pid: pid as number, url, startedAt, token }
  } catch {
    return null
  }
}

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
