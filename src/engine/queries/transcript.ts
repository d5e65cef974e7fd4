/**
 * Reads a session for the program that made it: its messages, and figures about it. Everything comes from the runs of
 * the session and their events. A session that was started with a given history begins with that history.
 */
import type { SessionId } from '../../contract/ids.ts'
import type { HistoryMessage, QuerySessionMetadata } from '../../contract/query.ts'
import { MESSAGE_EVENTS, MessageLog } from '../../core/query/messages.ts'
import type { KnownOutsideTurn } from '../../store/conversations/outside.ts'
import type { RunRecord } from '../../store/runs/records.ts'
import type { SessionRecord } from '../../store/runs/session-records.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'

export interface TranscriptDeps {
  store: Pick<Store, 'listRuns' | 'listEvents' | 'getHistory' | 'listOutsideTurns'>
  agents: { find: (name: string) => { model: string | null } | null }
}

export interface SessionTranscript {
  messages: HistoryMessage[]
  /** Oldest first. */
  runs: RunRecord[]
}

export async function readTranscript(
  deps: TranscriptDeps,
  session: SessionRecord,
): Promise<SessionTranscript> {
  const { store } = deps
  const runs = await listRuns(deps, session.id)
  const log = new MessageLog()
  const outside = await store.listOutsideTurns(session.id)
  const addOutside = (before: Date) => {
    while (outside[0] && outside[0].saidAt < before) {
      const { text, answer, saidAt } = outside.shift() as KnownOutsideTurn
      log.ask(text, saidAt)
      log.answer(answer, saidAt)
    }
  }
  for (const run of runs) {
    if (run === runs[0]) log.add(await store.getHistory(run.id))
    addOutside(run.createdAt)
    log.ask(run.prompt, run.createdAt)
    await scanEvents(store, run.id, { types: MESSAGE_EVENTS }, ({ body, at }) => log.note(body, at))
  }
  return { messages: log.messages, runs }
}

async function listRuns({ store }: TranscriptDeps, sessionId: SessionId): Promise<RunRecord[]> {
  const runs: RunRecord[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.listRuns({ limit: 200, sessionId, ...(cursor ? { cursor } : {}) })
    runs.push(...page.items)
    cursor = page.nextCursor
  }
  return runs.toReversed().filter((run) => run.attemptCount > 0)
}

export function metadataOf(
  { agents }: TranscriptDeps,
  session: SessionRecord,
  { messages, runs }: SessionTranscript,
): QuerySessionMetadata {
  const { usage, state, stopReason } = session
  return {
    id: session.agentSessionId,
    model: runs.at(-1)?.model ?? agents.find(session.agent)?.model ?? 'default',
    cwd: session.workDir,
    createdAt: session.createdAt.toISOString(),
    lastMessageAt: messages.at(-1)?.at ?? session.lastUsedAt.toISOString(),
    messageCount: messages.length,
    turnCount: session.turns,
    totalInputTokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    totalOutputTokens: usage.outputTokens,
    status: state,
    ...(stopReason === null ? {} : { lastStopReason: stopReason }),
  }
}
