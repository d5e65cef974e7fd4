/**
 * `reprise up` where a daemon runs already. A daemon of an older version is asked to end, and the new one continues:
 *
 *   running ──check that the new one could start──→ SIGTERM, wait until it is gone ──→ no daemon ──start──→ the new one
 *
 * Agents are not touched: they run under keepers, and whichever daemon comes next adopts them. A command that dies on the
 * way leaves the old daemon or none, and then any command starts one. SIGTERM is used instead of a request, because every
 * version understands it; the daemon's socket has confirmed the pid.
 */
import { readFileSync } from 'node:fs'
import { RepriseError } from '../../contract/errors.ts'
import { compareVersions } from '../../contract/version.ts'
import { preflight } from '../../library/preflight.ts'
import { type CliContext, notify } from '../base/context.ts'
import { type DaemonLink, findDaemon } from './link.ts'
import { waitUntilGone } from './stop.ts'

const GONE_WITHIN_MS = 60_000

export interface Replaced {
  pid: number
  version: string
}

export interface TakeOverOptions {
  /** Replace a daemon of any version. */
  restart: boolean
  /** Go back to a copy of the database; null: the newest that can be used. */
  restore: { file: string | null } | undefined
}

type Found = { left: DaemonLink } | { replaced: Replaced | null }

/** Stops the daemon that runs, if it is to be replaced. `left`: it was not. */
export async function takeOver(
  context: CliContext,
  home: string,
  { restart, restore }: TakeOverOptions,
): Promise<Found> {
  const running = await findDaemon(home)
  if (!running) return { replaced: null }
  const { pid, version } = running
  const order = compareVersions(context.version, version)
  const isWanted = restart || restore !== undefined || (order !== null && order > 0)
  if (!isWanted) return { left: running }
  refuseService(pid)
  await preflight({ home, cwd: context.cwd, env: context.env, restore })
  if (!context.json) notify(context, `Taking over from Reprise ${version} (pid ${pid}) …`)
  process.kill(pid, 'SIGTERM')
  if (await waitUntilGone(pid, GONE_WITHIN_MS)) return { replaced: { pid, version } }
  throw new RepriseError('internal', `the daemon (pid ${pid}) was asked to stop, but is still running`, {
    hint: 'End it with: reprise down --force; then: reprise up',
  })
}

/** A daemon that systemd started is restarted by systemd, so that it stays a service. */
function refuseService(pid: number): void {
  const group = readGroup(pid)
  if (!group.includes('/reprise.service')) return
  const install = `reprise service install${group.includes('/user.slice/') ? '' : ' --system'}`
  throw new RepriseError('conflict', `the daemon (pid ${pid}) is a service of systemd`, {
    hint: `Restart it with this version: ${install}; running agents continue.`,
  })
}

function readGroup(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    return ''
  }
}
