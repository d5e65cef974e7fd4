/**
 * Takes over sessions that people made with the agent's own program: lists them, and imports their history as a
 * conversation whose next turn resumes the session.
 *
 * A session is taken over only if it is complete, its directory exists, no process has it open and Reprise does not
 * know it yet. Otherwise nothing is stored, and the report says why. The session's own file is never written.
 */
import type { SessionFile } from '../../agents/existing-sessions.ts'
import type { AgentRegistry } from '../../agents/registry.ts'
import type { AdoptableQuery, AdoptSessions, FoundSession } from '../../contract/adopt.ts'
import { RepriseError } from '../../contract/errors.ts'
import type { ListQuery, Page } from '../../contract/http.ts'
import { ConversationId } from '../../contract/ids.ts'
import type { TranscriptState } from '../../contract/session.ts'
import type { Clock } from '../../core/clock.ts'
import { NothingToAdopt } from '../../store/conversations/adopt.ts'
import { recordSession } from '../../store/runs/new-session.ts'
import type { Store } from '../../store/store.ts'
import type { Log } from '../base/log.ts'
import { identifyDir } from '../base/work-dir.ts'
import { assess, choose, PROBLEMS, type ReadableAgent } from './assess.ts'
import { type FoundFile, listFound, newestFirst, pageOf, realDir } from './found.ts'

export interface AdoptDeps {
  store: Pick<Store, 'adoptSession' | 'findKnownSession' | 'findConversationOf'>
  agents: Pick<AgentRegistry, 'get' | 'defaultName' | 'runtime'>
  clock: Clock
  log: Log
}

export interface AdoptEngine {
  listAdoptable: (query: ListQuery & AdoptableQuery) => Promise<Page<FoundSession>>
  /** Reports on each chosen session. */
  adoptSessions: (request: AdoptSessions) => Promise<FoundSession[]>
}

export function createAdoption(deps: AdoptDeps): AdoptEngine {
  return {
    listAdoptable: async ({ limit, cursor, agent: name, workDir }) => {
      const agent = readerOf(deps, name)
      const dir = workDir === undefined ? null : await realDir(workDir)
      const page = pageOf(await filesOf(deps, agent, dir), limit, cursor)
      const items = (await listFound(page.items, agent.existing.peek)).filter((found) => isOf(found, dir))
      return {
        items: await Promise.all(items.map((found) => assess(deps, agent, found))),
        nextCursor: page.nextCursor,
      }
    },
    adoptSessions: async ({ agent: name, ids, workDir }) => {
      const agent = readerOf(deps, name)
      // Fails early, with a hint, if the agent cannot be started: an adopted session could not be continued.
      await deps.agents.runtime(agent.name)
      const dir = workDir === undefined ? null : await realDir(workDir)
      const files = await filesOf(deps, agent, dir)
      const reports: FoundSession[] = []
      for (const chosen of ids ? await choose(agent, files, ids) : files) {
        if ('state' in chosen) reports.push(chosen)
        else {
          const [found = { file: chosen, peek: null }] = await listFound([chosen], agent.existing.peek)
          if (isOf(found, dir)) reports.push(await adoptFile(deps, agent, found))
        }
      }
      return reports
    },
  }
}

function readerOf({ agents }: AdoptDeps, name = agents.defaultName): ReadableAgent {
  const agent = agents.get(name)
  const { existing } = agent.adapter
  if (existing) return { ...agent, existing }
  throw new RepriseError('bad-request', `Reprise cannot read the session files of the agent ${name}`, {
    hint: 'Name another agent; `reprise agents` lists them.',
  })
}

/** Without those in the private folders of sandboxed sessions. */
async function filesOf(
  { store }: AdoptDeps,
  { existing, env }: ReadableAgent,
  dir: string | null,
): Promise<SessionFile[]> {
  const files = await existing.find(env, dir)
  const owners = new Set(files.flatMap(({ privateTo }) => privateTo ?? []))
  const known = new Set<string>()
  for (const id of owners) if (await store.findKnownSession(id)) known.add(id)
  return newestFirst(files.filter(({ privateTo }) => privateTo === null || !known.has(privateTo)))
}

/** An agent may keep the sessions of two directories in one folder. */
const isOf = ({ peek }: FoundFile, dir: string | null) =>
  dir === null || !peek?.workDir || peek.workDir === dir

async function adoptFile(deps: AdoptDeps, agent: ReadableAgent, seen: FoundFile): Promise<FoundSession> {
  const { store, clock, log, agents } = deps
  const { file } = seen
  const found = await assess(deps, agent, seen)
  const { workDir } = found
  if (found.state !== 'adoptable' || workDir === null || seen.peek === null) return found
  const transcript = await agent.adapter.inspectTranscript(file.agentSessionId, agent.env, { workDir })
  const unusable = (message: string): FoundSession => ({ ...found, state: 'unusable', message })
  if (transcript.path !== file.path) return unusable('the agent would not find its file from its directory')
  const damage = DAMAGES[transcript.state]
  if (damage !== undefined) return unusable(damage)
  const now = clock.now()
  const { runtimeId } = await agents.runtime(agent.name)
  const { version, contextTokens, stopReason, startedAt } = seen.peek
  const known = {
    agent: agent.name,
    agentSessionId: file.agentSessionId,
    workDir,
    workDirId: await identifyDir(workDir),
    runtimeId,
    runtime: version === null ? null : { id: runtimeId, command: null, version, can: [] },
    contextTokens,
    createdAt: startedAt ?? now,
    // A person asked for it now, so it is not too old to be resumed.
    lastUsedAt: now,
  }
  const session = { ...recordSession(known, now), stopReason }
  const conversation = {
    id: ConversationId.create(now),
    title: '',
    agent: agent.name,
    workDir,
    instructions: null,
    historyScope: 'shared' as const,
    createdAt: now,
  }
  try {
    const turns = agent.existing.readTurns(file)
    const adopted = await store.adoptSession({ session, conversation, turns, at: now })
    if (adopted.kind === 'known') return await assess(deps, agent, seen)
    log.info({ session: session.id, path: file.path, turns: adopted.turns }, 'adopted a session')
    return {
      ...found,
      state: 'adopted',
      session: session.id,
      conversationId: conversation.id,
      turns: adopted.turns,
    }
  } catch (error) {
    if (error instanceof NothingToAdopt) return unusable(PROBLEMS.empty)
    log.warn({ path: file.path, error: String(error) }, 'could not adopt a session')
    return unusable(`it could not be imported: ${(error as Error).message}`)
  }
}

/** The states of a transcript that cannot be continued as a whole. A torn last record is repaired before a resume. */
const DAMAGES: Partial<Record<TranscriptState, string>> = {
  missing: 'its file has disappeared',
  unreadable: 'its file is damaged: it contains no message',
  foreign: 'its file contains only messages of another session',
  broken: 'its file is damaged: messages in the middle are missing',
}
