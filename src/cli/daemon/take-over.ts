/**
 * `reprise up` where a daemon runs already. A daemon of an older version is asked to end, and the new one continues:
 *
 *   old one runs ──the new process checks that it could start──→ SIGTERM ──old one gone──→ the new process is the daemon
 *
 * The process that will be the daemon does all of it, so that it needs nobody once the old one was told to leave. The
 * command that started it watches: if it fails or is killed on the way, the command starts the old one again
 * (predecessor.ts). A process that fails when its command is gone does the same itself. Only if both are killed there is no
 * daemon, and then any command starts one.
 *
 * Agents are not touched: they run under keepers, and whichever daemon comes next adopts them. SIGTERM is used instead of
 * a request, because every version understands it; the daemon's socket has confirmed the pid.
 */
import { readFileSync } from 'node:fs'
import { RepriseError } from '../../contract/errors.ts'
import { compareVersions } from '../../contract/version.ts'
import { preflight } from '../../library/preflight.ts'
import type { CliContext } from '../base/context.ts'
import { serviceOf } from '../service/control-group.ts'
import { type DaemonLink, findDaemon } from './link.ts'
import { waitUntilGone } from './stop.ts'

export const GONE_WITHIN_MS = 60_000

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

/** The daemon that runs: `left` if it stays, `replace` if it is to be replaced; null if none runs. */
type Found = { left: DaemonLink } | { replace: DaemonLink | null }

export async function findReplaceable(
  context: CliContext,
  home: string,
  { restart, restore }: TakeOverOptions,
): Promise<Found> {
  const running = await findDaemon(home)
  if (!running) return { replace: null }
  const order = compareVersions(context.version, running.version)
  const isWanted = restart || restore !== undefined || (order !== null && order > 0)
  if (!isWanted) return { left: running }
  refuseService(running.pid)
  return { replace: running }
}

/** Ends the daemon that runs, after checking that this process can be the next one. */
export async function takeOver(
  context: CliContext,
  home: string,
  { pid, version, url }: Pick<DaemonLink, 'pid' | 'version' | 'url'>,
  { restore, onWork }: Pick<TakeOverOptions, 'restore'> & { onWork: (what: string) => void },
): Promise<Replaced> {
  await preflight({ home, cwd: context.cwd, env: context.env, restore, onWork, url })
  onWork(`Taking over from Reprise ${version} (pid ${pid}) …`)
  process.kill(pid, 'SIGTERM')
  if (await waitUntilGone(pid, GONE_WITHIN_MS)) return { pid, version }
  throw new RepriseError('internal', `the daemon (pid ${pid}) was asked to stop, but is still running`, {
    hint: 'End it with: reprise down --force; then: reprise up',
  })
}

/** A daemon that systemd started is restarted by systemd, so that it stays a service. */
function refuseService(pid: number): void {
  const service = serviceOf(readGroup(pid))
  if (service === null) return
  const install = `reprise service install${service === 'user' ? '' : ' --system'}`
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
