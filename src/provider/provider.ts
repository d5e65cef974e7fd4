/**
 * The provider: queries with session continuity, for programs that were written for the Agent SDK. Each query is a run of
 * the engine and takes the same path as every other run.
 *
 * open → (`close`: every query is ended, then the engine) → closed. A query that an earlier process left open, because it
 * died, is ended when the provider is created: nobody reads its messages any more.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { RepriseError } from '../contract/errors.ts'
import type { DroppedResult } from '../contract/query.ts'
import type { OpenOptions } from '../library/options.ts'
import { type ContinuationOptions, type ContinuedMessages, ContinuedQuery } from './continuation.ts'
import { type Message as HistoryMessage, toMessage } from './history.ts'
import type { ProviderMessage } from './message.ts'
import { type OpenedEngine, openEngine } from './open.ts'
import { checkOptions, type ExecuteOptions } from './options.ts'
import { Query, settled } from './query.ts'
import { createSessionStore, type FoldSessionSummary, type SessionStore } from './session-store.ts'
import { ProviderSessions, type SessionState } from './sessions.ts'
import type { QueryMessages, ResumedMessages, WhyFresh } from './taken.ts'

export interface ProviderOptions extends Omit<OpenOptions, 'home' | 'daemon'> {
  /** The directory with all state: `agent-sessions/` and Reprise's own files. Default: Reprise's home. */
  dataDir?: string | undefined
  /** The name of the agent; default: the first configured one. */
  agent?: string | undefined
  /** How long the result of a tool that is not about a file is kept by `reconstructContext`. Default: 30 minutes. */
  staleAfterMs?: number | undefined
  /** The Agent SDK's function of the same name, with which `sessionStore` can list sessions without loading them. */
  foldSessionSummary?: FoldSessionSummary | undefined
}

/** The messages of a session, and which tool results were replaced because they do not hold any more. */
export type ReconstructedContext = HistoryMessage[] & { dropped: DroppedResult[] }

/** `Message`: the type of the messages, by default this library's own. `SDKMessage` of the Agent SDK fits as well. */
export interface Provider<Message = ProviderMessage> {
  /** Yields the messages of one query; the last one is a `result`. */
  executeQuery: (options: ExecuteOptions) => QueryMessages<Message>
  /** Continues until the model has finished, or `maxTurns` turns were taken in all. */
  executeWithContinuation: (options: ContinuationOptions) => ContinuedMessages<Message>
  /**
   * Resumes the session, or starts a new one with its history if that is not possible; `taken` says which. Without
   * `conversationHistory` the history is the one that Reprise has stored.
   */
  safeResume: (
    sessionId: string,
    prompt: string,
    options?: Omit<ExecuteOptions, 'prompt' | 'sdkSessionId'>,
  ) => Promise<ResumedMessages<Message>>
  /** The messages of a session, without tool results that do not hold any more. An unknown session has none. */
  reconstructContext: (sessionId: string) => Promise<ReconstructedContext>
  /** The sessions that were used since the provider was created. */
  readonly sessions: ReadonlyMap<string, SessionState>
  /** Lets the Agent SDK keep its transcripts in Reprise. */
  readonly sessionStore: SessionStore
  close: () => Promise<void>
  [Symbol.asyncDispose]: () => Promise<void>
}

const STALE_AFTER_MS = 30 * 60_000

export async function createProvider(options: ProviderOptions = {}): Promise<Provider> {
  const { dataDir, agent, staleAfterMs, foldSessionSummary, ...open } = options
  checkStaleness(staleAfterMs)
  const opened = await openEngine({ ...open, home: dataDir, daemon: 'refuse' })
  try {
    return await provideOn(opened, { agent, staleAfterMs, foldSessionSummary })
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** `engine` belongs to the provider: all its queries are the provider's own. */
export async function provideOn(
  { engine, home, log, close: closeEngine }: OpenedEngine,
  {
    agent,
    staleAfterMs = STALE_AFTER_MS,
    foldSessionSummary,
  }: Pick<ProviderOptions, 'agent' | 'staleAfterMs' | 'foldSessionSummary'>,
): Promise<Provider> {
  if (agent !== undefined) await requireAgent(engine, agent)
  await endAbandoned(engine)
  const sessions = new ProviderSessions(home)
  const running = new Set<Query>()
  let closing: Promise<void> | null = null

  const hooks = {
    onStart: (query: Query) => {
      if (closing) throw new RepriseError('closed', 'the provider has been closed')
      running.add(query)
    },
    onMessage: sessions.note.bind(sessions),
    onEnd: async (query: Query) => {
      running.delete(query)
      // The file is only a copy: that it cannot be written must not fail the query.
      try {
        const id = query.taken?.sessionId
        const session = id === undefined ? null : await engine.readQuerySession(id)
        if (session) await sessions.write(session)
      } catch (error) {
        log.warn({ error: String(error) }, 'could not write session.json')
      }
    },
  }

  const execute = (given: ExecuteOptions, turnsInAll?: number) => {
    const checked = checkOptions(given)
    const whyFresh: WhyFresh | null =
      given.sdkSessionId !== undefined && checked.resume === null ? 'no-history' : null
    return new Query({ engine, agent: agent ?? null, options: checked, turnsInAll, whyFresh, hooks })
  }

  const reconstructContext = async (sessionId: string): Promise<ReconstructedContext> => {
    const context = await engine.reconstructContext(sessionId, { maxAgeMs: staleAfterMs })
    return Object.assign((context?.messages ?? []).map(toMessage), { dropped: context?.dropped ?? [] })
  }

  const close = () => {
    closing ??= (async () => {
      const left = Promise.allSettled([...running].map((query) => query.return()))
      // The end of a query must be stored. The engine ends its process if that is not possible.
      const over = new AbortController()
      await Promise.race([left, cannotStore(engine, over.signal)])
      over.abort()
      await closeEngine()
    })()
    return closing
  }

  return {
    executeQuery: (given) => execute(given),
    executeWithContinuation: (given) => new ContinuedQuery(execute, given),
    safeResume: async (sessionId, prompt, given = {}) => {
      const conversationHistory = given.conversationHistory ?? (await reconstructContext(sessionId))
      const query = execute({ ...given, prompt, sdkSessionId: sessionId, conversationHistory })
      await query.begin()
      return query as Query & ResumedMessages
    },
    reconstructContext,
    sessions: sessions.states,
    sessionStore: createSessionStore(engine, foldSessionSummary),
    close,
    [Symbol.asyncDispose]: close,
  }
}

type ProvidedEngine = OpenedEngine['engine']

/** Ends the queries of a process that died. Nobody reads their messages any more. */
async function endAbandoned(engine: ProvidedEngine): Promise<void> {
  for (const id of await engine.listOpenQueries()) {
    await engine.cancel(id).catch(() => {})
    await settled(engine, id)
  }
}

const LOOK_MS = 500
const MAX_REFUSALS = 10

/** Resolves when the disk has refused writes for some seconds, or `over` is aborted. */
async function cannotStore(
  engine: Pick<ProvidedEngine, 'findStorageFailure'>,
  over: AbortSignal,
): Promise<void> {
  for (let refusals = 0; refusals < MAX_REFUSALS && !over.aborted; ) {
    await delay(LOOK_MS, undefined, { signal: over }).catch(() => {})
    refusals = engine.findStorageFailure() === null ? 0 : refusals + 1
  }
}

async function requireAgent(engine: ProvidedEngine, name: string): Promise<void> {
  const names = (await engine.listAgents()).map((agent) => agent.name)
  if (names.includes(name)) return
  throw new RepriseError('agent-unknown', `there is no agent named ${JSON.stringify(name)}`, {
    hint: `Configured agents: ${names.join(', ')}.`,
  })
}

function checkStaleness(staleAfterMs: unknown): void {
  if (staleAfterMs === undefined || (typeof staleAfterMs === 'number' && staleAfterMs >= 0)) return
  throw new RepriseError('bad-request', 'staleAfterMs: expected a number of milliseconds')
}
