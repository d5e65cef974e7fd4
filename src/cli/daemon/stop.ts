/**
 * Stops the daemon of a home. A daemon that hangs does not answer; with `force` it gets SIGTERM, and SIGKILL if it is still
 * there. Either way the agents keep running, and the next daemon takes them over.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Status } from '../../contract/http.ts'
import type { Run } from '../../contract/run.ts'
import { locateDaemon } from '../../library/find-daemon.ts'
import { type CliContext, notify } from '../base/context.ts'
import { count } from '../terminal/amounts.ts'
import { type DaemonLink, findDaemon, homeOf, isAlive } from './link.ts'

const GONE_WITHIN_MS = 20_000
const TERM_WITHIN_MS = 5000

export interface Stopped {
  pid: number
  cancelled: number
  /** The runs that it leaves; null if it did not answer. */
  left: Pick<Status, 'runs' | 'paused'> | null
  /** It did not end by itself. */
  forced: boolean
}

interface StopOptions {
  /** Cancel all open runs first. */
  cancel: boolean
  /** End it by signals if it does not answer or does not end. */
  force: boolean
  quiet?: boolean
}

/** Null if no daemon was running. */
export async function stopDaemon(
  context: CliContext,
  { cancel, force, quiet = false }: StopOptions,
): Promise<Stopped | null> {
  const home = homeOf(context)
  let daemon: DaemonLink | null
  try {
    daemon = await findDaemon(home)
  } catch (error) {
    const pid = locateDaemon(home)?.pid
    if (pid === undefined || !(error instanceof RepriseError)) throw error
    if (force) return end(pid)
    throw new RepriseError(error.code, error.message, { hint: 'End it with: reprise down --force' })
  }
  if (!daemon) return null
  const { client, pid } = daemon
  const cancelled = cancel ? await cancelOpenRuns(client, quiet ? null : context) : 0
  const { runs, paused } = await client.status()
  await client.shutdown()
  const isGone = await waitUntilGone(pid, GONE_WITHIN_MS)
  if (!isGone && !force) {
    throw new RepriseError('internal', `the daemon (pid ${pid}) was asked to stop, but is still running`, {
      hint: 'End it with: reprise down --force',
    })
  }
  if (!isGone) await end(pid)
  return { pid, cancelled, left: { runs, paused }, forced: !isGone }
}

async function end(pid: number): Promise<Stopped> {
  process.kill(pid, 'SIGTERM')
  if (!(await waitUntilGone(pid, TERM_WITHIN_MS))) {
    process.kill(pid, 'SIGKILL')
    await waitUntilGone(pid, TERM_WITHIN_MS)
  }
  return { pid, cancelled: 0, left: null, forced: true }
}

async function cancelOpenRuns(client: Client, context: CliContext | null): Promise<number> {
  // Queued runs first: otherwise each run that ends makes room for the next one to start.
  const open = [...(await listAll(client, 'queued')), ...(await listAll(client, 'running'))]
  if (open.length > 0 && context && !context.json)
    notify(context, `Cancelling ${count(open.length, 'run')} …`)
  for (const { id } of open) {
    await client.cancelRun(id).catch((error: unknown) => {
      if (!(error instanceof RepriseError) || error.code !== 'run-settled') throw error
    })
  }
  for (const { id } of open) await client.whenSettled(id)
  return open.length
}

async function listAll(client: Client, state: Run['state']): Promise<Run[]> {
  const found: Run[] = []
  let cursor: string | undefined
  do {
    const page = await client.listRuns({ state, limit: 200, cursor })
    found.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return found
}

export async function waitUntilGone(pid: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs
  while (isAlive(pid)) {
    if (performance.now() > until) return false
    await sleep(20)
  }
  return true
}
