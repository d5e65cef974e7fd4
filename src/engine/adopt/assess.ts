/**
 * Says of session files whether they can be adopted, as far as a quick look shows. The order matters: what Reprise knows
 * already, then what a process has open, then what is wrong with the file.
 */
import type { ExistingSessions, SessionFile, SessionFileProblem } from '../../agents/existing-sessions.ts'
import type { ConfiguredAgent } from '../../agents/registry.ts'
import type { FoundSession } from '../../contract/adopt.ts'
import type { Store } from '../../store/store.ts'
import { checkWorkDir } from '../base/work-dir.ts'
import type { FoundFile } from './found.ts'

export interface AssessDeps {
  store: Pick<Store, 'findKnownSession' | 'findConversationOf'>
}

/** An agent whose session files can be read. */
export type ReadableAgent = ConfiguredAgent & { existing: ExistingSessions }

/** The files with these ids, and a report for each id that names none or several. */
export async function choose(
  agent: ReadableAgent,
  files: readonly SessionFile[],
  ids: readonly string[],
): Promise<(SessionFile | FoundSession)[]> {
  const chosen: (SessionFile | FoundSession)[] = []
  for (const id of new Set(ids)) {
    const [file, ...others] = files.filter(({ agentSessionId }) => agentSessionId === id)
    if (!file) chosen.push(await missing(agent, id))
    else if (others.length === 0) chosen.push(file)
    else
      chosen.push(
        unknown(
          agent.name,
          id,
          'several directories have a session with this id; choose one by its directory',
        ),
      )
  }
  return chosen
}

async function missing(agent: ReadableAgent, id: string): Promise<FoundSession> {
  const found = unknown(agent.name, id, 'there is no session with this id in the files of the agent')
  const pid = await findHolder(agent, id)
  return pid === null ? found : { ...found, ...heldBy(pid) }
}

const isSessionId = ({ adapter, env }: ReadableAgent, id: string) =>
  adapter.placeSession(id, env, '/') !== null

async function findHolder(agent: ReadableAgent, id: string): Promise<number | null> {
  if (!isSessionId(agent, id)) return null
  const [holder] = await agent.adapter.findHolders(id, agent.env)
  return holder?.pid ?? null
}

const heldBy = (pid: number) => ({
  state: 'live' as const,
  message: `process ${pid} has it open; end that process first`,
  pid,
})

const unknown = (agent: string, agentSessionId: string, message: string): FoundSession => ({
  agent,
  agentSessionId,
  state: 'unusable',
  message,
  firstPrompt: null,
  workDir: null,
  path: null,
  bytes: 0,
  startedAt: null,
  modifiedAt: null,
  pid: null,
  session: null,
  conversationId: null,
  turns: null,
})

/** Describes what was found, and whether it can be adopted as far as a quick look shows. */
export async function assess(
  { store }: AssessDeps,
  agent: ReadableAgent,
  { file, peek }: FoundFile,
): Promise<FoundSession> {
  const found: FoundSession = {
    ...unknown(agent.name, file.agentSessionId, ''),
    state: 'adoptable',
    message: null,
    firstPrompt: peek?.firstPrompt ?? null,
    workDir: peek?.workDir ?? null,
    path: file.path,
    bytes: file.bytes,
    startedAt: peek?.startedAt?.toISOString() ?? null,
    modifiedAt: file.modifiedAt.toISOString(),
  }
  const unusable = (message: string): FoundSession => ({ ...found, state: 'unusable', message })
  const session = await store.findKnownSession(file.agentSessionId)
  if (session) {
    const conversationId = await store.findConversationOf(session)
    return { ...found, state: 'known', message: `Reprise knows it as ${session}`, session, conversationId }
  }
  // A process that has just begun may not have written what was said, so this comes before any problem of the file.
  const pid = await findHolder(agent, file.agentSessionId)
  if (pid !== null) return { ...found, ...heldBy(pid) }
  if (!peek) return unusable('its file cannot be read')
  if (peek.problem) return unusable(PROBLEMS[peek.problem])
  if (!isSessionId(agent, file.agentSessionId)) return unusable('its name is not the id of a session')
  if (found.workDir === null) return unusable('its file does not say in which directory it was made')
  const workDir = await checkWorkDir(found.workDir).catch(() => null)
  if (workDir === null) return unusable(`its directory ${found.workDir} does not exist, or cannot be entered`)
  return { ...found, workDir }
}

export const PROBLEMS: Record<SessionFileProblem, string> = {
  empty: 'nothing was said in it',
  damaged: 'its file is damaged: it contains no readable record',
  'sub-agent': 'it is the transcript of a sub-agent, which belongs to another session',
  'summary-only': 'its file contains only a summary of another session',
}
