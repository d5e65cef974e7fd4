/** The past of a run, from the store: the turns before it, and what earlier attempts at it did. */
import type { EventType } from '../contract/events.ts'
import type { SessionId } from '../contract/ids.ts'
import type { Interruption, PastTurn, ToolCall } from '../core/prompt/compose.ts'
import type { RunRecord, StoredEvent } from '../store/records.ts'
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
    for (const past of items) {
      if (past.id < run.id && past.attemptCount > 0 && !isSameJob(past, run)) turns.unshift(toTurn(past))
    }
    id = (await store.getSession(id))?.continues ?? null
  }
  return turns
}

/** What a job did in earlier runs is no turn before it: it is the same task. */
const isSameJob = (a: RunRecord, b: RunRecord) => a.links.jobId !== null && a.links.jobId === b.links.jobId

function toTurn(run: RunRecord): PastTurn {
  const ending =
    run.state.at === 'settled' && run.state.outcome.name !== 'completed' ? run.state.outcome.message : ''
  return { prompt: run.prompt, answer: run.resultText, ...(ending ? { ending } : {}) }
}

export interface EarlierAttempts {
  /** The newest one's end; null if this is the first attempt. Of a job: at any of its runs. */
  how: string | null
  tools: ToolCall[]
  saidSomething: boolean
}

export async function readEarlierAttempts(store: Store, run: RunRecord): Promise<EarlierAttempts> {
  const earlier: EarlierAttempts = { how: null, tools: [], saidSomething: false }
  const { jobId } = run.links
  const runs = jobId === null ? [run] : await store.listRunsOfJobs([jobId])
  if (runs.every(({ attemptCount }) => attemptCount === 0)) return earlier
  earlier.how = 'the agent was interrupted'
  const byId = new Map<string, ToolCall>()
  let stopped: string | null | undefined
  const visit = ({ attemptId, body }: StoredEvent) => {
    if (body.type === 'attempt-end') earlier.how = body.outcome.message
    else if (body.type === 'text-end') earlier.saidSomething = true
    else if (body.type === 'tool-start')
      byId.set(body.toolUseId, { name: body.name, input: body.input, ending: null })
    else if (body.type === 'tool-end') {
      const tool = byId.get(body.toolUseId)
      // What ended because we ended the agent was cut off: it may have run in part.
      if (tool && attemptId !== stopped) tool.ending = body.isError ? 'error' : 'ok'
    } else if (body.type === 'stop-request') stopped = attemptId
  }
  for (const { id } of runs) await scanEvents(store, id, { types: EARLIER }, visit)
  earlier.tools = [...byId.values()]
  return earlier
}

const EARLIER: readonly EventType[] = ['attempt-end', 'stop-request', 'tool-start', 'tool-end', 'text-end']

/**
 * What the session holds although no attempt of this run began was given to a process that was kept waiting for it, and
 * died before it said that it had taken it.
 */
export function toInterruption(earlier: EarlierAttempts, promptRecorded: boolean): Interruption | null {
  const how = earlier.how ?? (promptRecorded ? 'the agent was interrupted' : null)
  return how === null ? null : { how, tools: earlier.tools, promptRecorded }
}
