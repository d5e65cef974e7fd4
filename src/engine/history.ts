/** The past of a run, from the store: the turns before it, and what earlier attempts at it did. */
import type { EventType } from '../contract/events.ts'
import type { SessionId } from '../contract/ids.ts'
import type { Interruption, PastTurn, ToolCall } from '../core/prompt/compose.ts'
import type { RunRecord } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { scanEvents } from './events.ts'

const MAX_TURNS = 200

/**
 * Oldest first. A session that was started with another one's history continues that one, so its past is both. The
 * limit bounds what is read; what is too long to send is cut when the prompt is composed.
 */
export async function readPastTurns(
  store: Store,
  sessionId: SessionId | null,
  run: RunRecord,
): Promise<PastTurn[]> {
  const turns: PastTurn[] = []
  const seen = new Set<SessionId>()
  for (let id = sessionId; id !== null && !seen.has(id) && turns.length < MAX_TURNS; ) {
    seen.add(id)
    const { items } = await store.listRuns({ limit: MAX_TURNS, sessionId: id })
    for (const past of items) if (past.id < run.id && past.attemptCount > 0) turns.unshift(toTurn(past))
    id = (await store.getSession(id))?.continues ?? null
  }
  return turns
}

function toTurn(run: RunRecord): PastTurn {
  const ending =
    run.state.at === 'settled' && run.state.outcome.name !== 'completed' ? run.state.outcome.message : ''
  return { prompt: run.prompt, answer: run.resultText, ...(ending ? { ending } : {}) }
}

export interface EarlierAttempts {
  /** The newest one's end; null if this is the first attempt. */
  how: string | null
  tools: ToolCall[]
  saidSomething: boolean
}

export async function readEarlierAttempts(store: Store, run: RunRecord): Promise<EarlierAttempts> {
  const earlier: EarlierAttempts = { how: null, tools: [], saidSomething: false }
  if (run.attemptCount === 0) return earlier
  earlier.how = 'the agent was interrupted'
  const byId = new Map<string, ToolCall>()
  await scanEvents(store, run.id, { types: EARLIER }, ({ body }) => {
    if (body.type === 'attempt-end') earlier.how = body.outcome.message
    else if (body.type === 'text-end') earlier.saidSomething = true
    else if (body.type === 'tool-start')
      byId.set(body.toolUseId, { name: body.name, input: body.input, ending: null })
    else if (body.type === 'tool-end') {
      const tool = byId.get(body.toolUseId)
      if (tool) tool.ending = body.isError ? 'error' : 'ok'
    }
  })
  earlier.tools = [...byId.values()]
  return earlier
}

const EARLIER: readonly EventType[] = ['attempt-end', 'tool-start', 'tool-end', 'text-end']

export function toInterruption(earlier: EarlierAttempts, promptRecorded: boolean): Interruption | null {
  return earlier.how === null ? null : { how: earlier.how, tools: earlier.tools, promptRecorded }
}
