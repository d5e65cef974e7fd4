/**
 * Imports an exported session under this home, into any work directory.
 *
 *     received → verified (in a folder of Reprise) → placed (where the agent looks) → stored
 *
 * A failure at any step removes what the steps before left. If the daemon dies, the next one does (placements.ts). No step
 * holds the session in memory: files and messages are on the disk, and only the newest turns are read.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type AgentRegistry, type ConfiguredAgent, factsOf } from '../../agents/registry.ts'
import { RepriseError } from '../../contract/errors.ts'
import { ConversationId } from '../../contract/ids.ts'
import type { ImportedSession } from '../../contract/session-transfer.ts'
import type { Clock } from '../../core/clock.ts'
import type { CopiedConversation, CopiedMessage } from '../../store/conversations/copies.ts'
import { recordSession } from '../../store/runs/new-session.ts'
import type { NewSession } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { checkWorkDir, identifyDir } from '../base/work-dir.ts'
import type { BundledMessage, Header } from './bundle.ts'
import { listFiles } from './files.ts'
import { readRecentTurns } from './past.ts'
import { type PlaceDeps, placeFiles } from './place.ts'
import { type ReadBundle, readBundle } from './read-bundle.ts'
import { type StorePlacedDeps, storePlaced } from './store-placed.ts'
import { unusable } from './unusable.ts'

export interface ImportDeps extends PlaceDeps, StorePlacedDeps {
  store: Pick<Store, 'findSession' | 'addCopies'>
  agents: Pick<AgentRegistry, 'names' | 'get' | 'runtime'>
  clock: Clock
}

export interface ImportOptions {
  /** The directory to continue in; by default that of the export, if it exists here. */
  workDir?: string | undefined
  agent?: string | undefined
  /** Give the session an id of its own. */
  asCopy: boolean
}

export async function importSession(
  deps: ImportDeps,
  received: Readable,
  options: ImportOptions,
): Promise<ImportedSession> {
  const dir = join(deps.imports, randomUUID())
  await mkdir(dir, { recursive: true, mode: 0o700 })
  try {
    return await takeIn(deps, await readBundle(received, dir), options)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function takeIn(
  deps: ImportDeps,
  bundle: ReadBundle,
  options: ImportOptions,
): Promise<ImportedSession> {
  const { header } = bundle
  const { store, clock } = deps
  const agent = chooseAgent(deps.agents, header, options.agent)
  const { adapter, env } = agent
  const part = await adapter.copies?.readPart(bundle.transcript, null)
  const before = header.session.agentSessionId
  if (part === null) throw unusable('its transcript has no message')
  if (part && part.agentSessionId !== before) throw unusable('its transcript is that of another session')
  const place = await placeOf(header, options.workDir)
  const runtime = await deps.agents.runtime(agent.name)
  const agentSessionId = options.asCopy ? randomUUID() : before
  if (options.asCopy && !adapter.copies) {
    throw new RepriseError('session-unusable', `sessions of ${agent.name} cannot be copied`)
  }
  const to = adapter.placeSession(agentSessionId, env, place.workDir)
  if (to === null) throw unusable(`${JSON.stringify(before).slice(0, 80)} is not an id of a session`)
  await refuseExisting(deps, agent, agentSessionId, place.workDir)
  let files = 0
  for await (const _ of listFiles(bundle)) files++
  const placed = await placeFiles(deps, {
    agentSessionId,
    from: bundle,
    bytes: null,
    to,
    rename:
      options.asCopy && adapter.copies
        ? { isChanged: adapter.copies.hasRecords, change: adapter.copies.rename(before, agentSessionId) }
        : null,
  })
  const now = clock.now()
  const { told, compacted, turns, contextTokens, contextWindow, version, can } = header.session
  const known = {
    agent: agent.name,
    agentSessionId,
    ...place,
    runtimeId: runtime.runtimeId,
    // The command of another machine does not matter here.
    runtime: { ...factsOf(runtime), command: null, version, can },
  }
  const session = recordSession({ ...known, told, compacted, turns, contextTokens, contextWindow }, now)
  const conversation = toConversation(bundle, session, now)
  await storePlaced(deps, [{ session, placed }], async () => {
    const past = { agentSessionId, workDir: place.workDir }
    const recent = await readRecentTurns(agent, past, to.transcript)
    const origin = {
      kind: 'import' as const,
      sessionId: null,
      agentSessionId: before,
      messageId: null,
      costUsd: header.session.costUsd,
      createdAt: now,
    }
    const questions = part?.questions ?? recent.map(({ id }) => id)
    // The messages of a conversation are its history; other sessions have the turns of the transcript.
    const turns = conversation ? [] : recent
    await store.addCopies([{ session, origin, questions, turns }], conversation)
  })
  return {
    session: session.id,
    agentSessionId,
    agent: agent.name,
    workDir: place.workDir,
    conversation: conversation?.conversation.id ?? null,
    turns: session.turns,
    files,
    bytes: (await stat(to.transcript)).size,
  }
}

/** The agent of the same name, or else any other that uses the same files. */
function chooseAgent(
  agents: ImportDeps['agents'],
  { adapter, session }: Header,
  asked: string | undefined,
): ConfiguredAgent {
  if (asked !== undefined) {
    const agent = agents.get(asked)
    if (agent.adapter.name === adapter) return agent
    throw new RepriseError('conflict', `the session is one of ${adapter}, and the agent ${asked} is not`)
  }
  const fitting = agents.names().filter((name) => agents.get(name).adapter.name === adapter)
  const name = fitting.find((known) => known === session.agent) ?? fitting[0]
  if (name !== undefined) return agents.get(name)
  throw new RepriseError('agent-unknown', `the session is one of ${adapter}, which is not configured here`, {
    hint: `Configured agents: ${agents.names().join(', ')}. Add it under agents: in config.yaml.`,
  })
}

async function placeOf({ session }: Header, asked: string | undefined) {
  try {
    const workDir = await checkWorkDir(asked ?? session.workDir)
    return { workDir, workDirId: await identifyDir(workDir) }
  } catch (error) {
    if (asked !== undefined || !(error instanceof RepriseError)) throw error
    throw new RepriseError(error.code, `the session's directory ${session.workDir} cannot be used here`, {
      hint: 'Say in which directory it continues: --dir DIRECTORY',
      cause: error,
    })
  }
}

async function refuseExisting(
  { store }: ImportDeps,
  { name, adapter, env }: ConfiguredAgent,
  agentSessionId: string,
  workDir: string,
): Promise<void> {
  const known = await store.findSession(agentSessionId)
  const files = await adapter.locateSession(agentSessionId, env, workDir)
  if (!known && !files) return
  const where = known?.agent === name ? `as ${known.id}` : `at ${files?.transcript ?? known?.id}`
  throw new RepriseError('conflict', `session ${agentSessionId} is here already, ${where}`, {
    hint: 'It was left as it is. Import it as a copy with an id of its own: --as-copy',
  })
}

function toConversation(
  { header, messages }: ReadBundle,
  session: NewSession,
  now: Date,
): CopiedConversation | null {
  const { conversation } = header
  if (conversation === null) return null
  const { title, instructions, historyScope, sinceTurn, seenTurn } = conversation
  const { agent, workDir } = session
  return {
    conversation: {
      id: ConversationId.create(now),
      title,
      agent,
      workDir,
      instructions,
      historyScope,
      createdAt: now,
    },
    messages: toMessages(messages(), header.session.agent, agent),
    pins: [{ agent, sessionId: session.id, sinceTurn, seenTurn }],
  }
}

/** The session is pinned under the agent's name here. */
async function* toMessages(
  messages: AsyncIterable<BundledMessage>,
  before: string,
  now: string,
): AsyncGenerator<CopiedMessage> {
  for await (const { createdAt, ...message } of messages) {
    const agent = message.agent === before ? now : message.agent
    yield { ...message, agent, createdAt: new Date(createdAt) }
  }
}
