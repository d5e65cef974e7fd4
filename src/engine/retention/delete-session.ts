/**
 * Deletes a session for a person: the agent's own files, Reprise's copies of them, and the session itself. What was done in
 * it stays with its runs. It is marked first (store/runs/delete-session.ts), so it stays deleted whatever happens next.
 *
 * Sessions that were deleted with a conversation are removed here too, as soon as no process holds them.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentRegistry } from '../../agents/registry.ts'
import { removeUntrusted } from '../../agents/remove-untrusted.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { Clock } from '../../core/clock.ts'
import type { DeletedSession } from '../../store/retention/sessions.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { readDisposable } from '../enforce/session-dir.ts'
import type { Mirror } from '../mirror/mirror.ts'
import { storedSessionDir } from '../queries/stored-session.ts'
import { requireSession } from '../sessions/require-session.ts'

export interface DeleteSessionDeps {
  store: Pick<
    Store,
    | 'getSession'
    | 'findSession'
    | 'findLeaseHolder'
    | 'markSessionDeleted'
    | 'listDeletedSessions'
    | 'forgetSession'
  >
  agents: Pick<AgentRegistry, 'find'>
  mirrors: Pick<Mirror, 'remove'>
  clock: Clock
  log: Log
  damaged: string
  sandboxes: string
  /** The directory with one folder per session of the provider. */
  agentSessions: string
}

/** Returns how many deleted sessions could not be removed yet. */
export async function deleteSession(deps: DeleteSessionDeps, id: string): Promise<number> {
  const { store, clock } = deps
  const session = await requireSession(store, id)
  // If a run holds the session, the store says which.
  const leased = (await store.findLeaseHolder(session.id)) !== null
  const pid = leased ? null : await findHolder(deps, session)
  if (pid !== null) {
    throw new RepriseError('conflict', `process ${pid} has session ${session.id} open`, {
      hint: 'Close it in that process first.',
      details: { pid },
    })
  }
  await store.markSessionDeleted(session.id, clock.now())
  return purgeDeletedSessions(deps)
}

async function findHolder({ agents }: DeleteSessionDeps, session: SessionRecord): Promise<number | null> {
  const agent = agents.find(session.agent)
  const [holder] = agent ? await agent.adapter.findHolders(session.agentSessionId, agent.env) : []
  return holder?.pid ?? null
}

/** Returns how many could not be removed yet. Never rejects. */
export async function purgeDeletedSessions(deps: DeleteSessionDeps): Promise<number> {
  let left = 0
  try {
    for (const deleted of await deps.store.listDeletedSessions()) {
      const isGone = await purge(deps, deleted).catch((error: unknown) => {
        const { id } = deleted.session
        deps.log.warn({ session: id, error: String(error) }, 'could not delete the files of a session')
        return false
      })
      if (!isGone) left++
    }
  } catch (error) {
    deps.log.warn({ error: String(error) }, 'could not remove deleted sessions')
    return 1
  }
  return left
}

async function purge(
  deps: DeleteSessionDeps,
  { session, held, with: how, agentSessionIds }: DeletedSession,
): Promise<boolean> {
  const { store, agents, mirrors, damaged, sandboxes, agentSessions } = deps
  if (held || (await findHolder(deps, session)) !== null) return false
  const agent = agents.find(session.agent)
  // A person made an adopted session without Reprise: it stays theirs if only the conversation about it is deleted.
  const isOurs = how === 'session' || !session.adopted
  for (const id of agent && isOurs ? agentSessionIds : []) {
    const files = await agent?.adapter.locateSession(id, agent.env, session.workDir)
    if (files?.folder) await removeUntrusted(files.folder)
    if (files) await rm(files.transcript, { force: true })
  }
  await mirrors.remove(session.id)
  for (const id of agentSessionIds) {
    const dir = storedSessionDir(agentSessions, id)
    if (dir !== null) await rm(dir, { recursive: true, force: true })
  }
  const sandbox = join(sandboxes, session.id)
  for (const path of [...readDisposable(sandbox), sandbox]) await removeUntrusted(path)
  for (const name of await readdir(damaged).catch(() => []))
    if (agentSessionIds.some((id) => name.startsWith(`${id}-`)))
      await rm(join(damaged, name), { force: true })
  await store.forgetSession(session.id)
  return true
}
