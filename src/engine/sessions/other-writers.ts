/**
 * Detects other writers of the session of a running attempt: a person who continues it by hand, or the agent of another
 * daemon on a copy of the home. If two processes write at the same time, the CLI keeps one branch and reports nothing.
 *
 * There is a conflict if a live process that is not ours has the session open, and the transcript also contains a
 * question that is not ours and was not imported before. A process that only has the session open, in a terminal for
 * instance, is no conflict yet. On a conflict the attempt is stopped; the outside turns are imported when the next
 * attempt is prepared, which starts a new session. Between two daemons the agent that was started later is stopped, so
 * that not both are.
 */
import type { AgentAdapter } from '../../agents/adapter.ts'
import type { AgentRegistry } from '../../agents/registry.ts'
import type { SessionHolder } from '../../agents/session-files.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import type { Processes } from '../base/processes.ts'
import { findOutside, type OutsideDeps } from './pin.ts'

const LOOK_EVERY_MS = 1000

export type OtherWritersDeps = OutsideDeps & {
  store: Pick<Store, 'getSession'>
  agents: Pick<AgentRegistry, 'find'>
  log: Log
  processes: Pick<Processes, 'attemptOf'>
}

interface Watched {
  run: RunRecord
  attempt: AttemptRecord
  adapter: AgentAdapter
}

/** Returns a function that stops the watch. */
export function watchOtherWriters(
  deps: OtherWritersDeps,
  watched: Watched,
  onConflict: (message: string) => Promise<unknown>,
): () => void {
  let timer: NodeJS.Timeout | null = null
  let closed = false
  const look = async () => {
    const conflict = await findConflict(deps, watched).catch((error: unknown) => {
      deps.log.warn({ attempt: watched.attempt.id, error: String(error) }, 'could not look for other writers')
      return null
    })
    if (closed) return
    if (conflict === null) timer = setTimeout(look, LOOK_EVERY_MS).unref()
    else await onConflict(conflict).catch(() => {})
  }
  timer = setTimeout(look, LOOK_EVERY_MS).unref()
  return () => {
    closed = true
    if (timer) clearTimeout(timer)
  }
}

async function findConflict(
  deps: OtherWritersDeps,
  { run, attempt, adapter }: Watched,
): Promise<string | null> {
  // The location of the files is unknown for an agent that is not configured any more.
  const env = deps.agents.find(run.agent, run.id)?.env
  if (!env) return null
  const holders = await adapter.findHolders(attempt.agentSessionId, env)
  const ours = holders.filter(({ pid }) => deps.processes.attemptOf(pid) === attempt.spool)
  const rival = holders.find((holder) => !ours.includes(holder) && !givesWay(deps.processes, holder, ours))
  if (!rival) return null
  const session = await deps.store.getSession(attempt.sessionId)
  const outside = session && (await findOutside(deps, { adapter, env }, run, session))
  return outside && outside.length > 0
    ? `another process (pid ${rival.pid}) is writing the same session`
    : null
}

/** An agent of another daemon does, if it was started after ours. While ours is not known to have begun, it is waited for. */
function givesWay(
  processes: OtherWritersDeps['processes'],
  rival: SessionHolder,
  ours: readonly SessionHolder[],
): boolean {
  if (processes.attemptOf(rival.pid) === null) return false
  const [own] = ours
  if (!own) return true
  return rival.startTicks === own.startTicks ? rival.pid > own.pid : rival.startTicks > own.startTicks
}
