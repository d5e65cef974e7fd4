/** The past of a run, from the store: the turns before it, and what earlier attempts at it did. */
import type { EventType } from '../contract/events.ts'
import type { AttemptId, RunId, SessionId } from '../contract/ids.ts'
import { renderBlocks } from '../core/history/render.ts'
import type { PastTurn } from '../core/prompt/compose.ts'
import { type Interruption, type ToolCall, waitedFor } from '../core/prompt/interruption.ts'
import type { KnownOutsideTurn } from '../store/outside.ts'
import type { RunRecord, StoredEvent } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { scanEvents } from './events.ts'
import { readUnfinishedText } from './unfinished-text.ts'

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
    const ours = items
      .filter((past) => past.id < run.id && past.attemptCount > 0 && !isSameJob(past, run))
      .map((past) => ({ at: past.createdAt, turn: toTurn(past) }))
    const others = (await store.listOutsideTurns(id)).map((past) => ({
      at: past.saidAt,
      turn: toOutsideTurn(past),
    }))
    const both = [...ours, ...others].sort((a, b) => a.at.getTime() - b.at.getTime())
    turns.unshift(...both.map(({ turn }) => turn))
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

function toOutsideTurn({ text, answer, inSession }: KnownOutsideTurn): PastTurn {
  return {
    prompt: text,
    answer: answer.length > 0 ? renderBlocks(answer) : null,
    origin: inSession ? 'outside' : 'outside-branch',
  }
}

export interface EarlierAttempts {
  /** The newest one's end; null if this is the first attempt. Of a job: at any of its runs. */
  how: string | null
  tools: ToolCall[]
  /** Those of `tools` that were called after the agent had first taken this run's prompt. */
  toolsSincePrompt: ToolCall[]
  saidSomething: boolean
  /** What the newest one was saying, if its turn did not end. */
  saying: string | null
}

export async function readEarlierAttempts(store: Store, run: RunRecord): Promise<EarlierAttempts> {
  const earlier: EarlierAttempts = {
    how: null,
    tools: [],
    toolsSincePrompt: [],
    saidSomething: false,
    saying: null,
  }
  const { jobId } = run.links
  const runs = jobId === null ? [run] : await store.listRunsOfJobs([jobId])
  if (runs.every(({ attemptCount, outdatedAttempts }) => attemptCount === outdatedAttempts)) return earlier
  earlier.how = 'the agent was interrupted'
  const byId = new Map<string, ToolCall>()
  const begunIn = new Map<ToolCall, AttemptId | null>()
  let newest = null as { id: AttemptId; runId: RunId; lastText: number } | null
  let lastText = 0
  let said: string[] = []
  let makesRoom = false
  /** How many tools had been called when the agent first took the prompt; some agents do not say when they do. */
  let toolsBeforePrompt: number | null = null
  let stopped: string | null | undefined
  let outdated = false
  const visit = ({ attemptId, runId, seq, body }: StoredEvent) => {
    // Attempts at a question that was edited since are no attempts at this one.
    if (body.type === 'attempt-start') outdated = runId === run.id && body.number <= run.outdatedAttempts
    if (outdated) return
    if (body.type === 'attempt-end') {
      earlier.how = body.outcome.message
      newest = attemptId && { id: attemptId, runId, lastText }
    } else if (body.type === 'attempt-start' || body.type === 'turn-end') {
      if (body.type === 'attempt-start') makesRoom = body.makesRoom === true
      said = []
      lastText = seq
    } else if (body.type === 'text-end') {
      if (makesRoom) return
      earlier.saidSomething = true
      if (body.parentToolUseId === undefined) lastText = seq
      if (body.parentToolUseId === undefined) said.push(body.text)
    } else if (body.type === 'tool-start') {
      if (body.parentToolUseId === undefined) said = []
      const tool: ToolCall = { name: body.name, input: body.input, ending: null }
      byId.set(body.toolUseId, tool)
      begunIn.set(tool, attemptId)
    } else if (body.type === 'tool-end') {
      const tool = byId.get(body.toolUseId)
      // What ended because we ended the agent was cut off: it may have run in part.
      if (tool && attemptId !== stopped) tool.ending = body.isError ? 'error' : 'ok'
    } else if (body.type === 'prompt-accept') {
      if (body.messageId === run.promptId) toolsBeforePrompt ??= byId.size
    } else if (body.type === 'stop-request') stopped = attemptId
  }
  for (const { id } of runs) await scanEvents(store, id, { types: EARLIER }, visit)
  earlier.tools = [...byId.values()]
  earlier.toolsSincePrompt = earlier.tools.slice(toolsBeforePrompt ?? 0)
  const unfinished = newest && !makesRoom ? await readUnfinishedText(store, newest, newest.lastText) : null
  if (unfinished) said.push(unfinished.text)
  earlier.saying = said.length > 0 ? said.join('\n') : null
  await readWaits(store, byId, begunIn)
  return earlier
}

/** Of tools that did not end: what they waited for. */
async function readWaits(
  store: Store,
  byId: ReadonlyMap<string, ToolCall>,
  begunIn: ReadonlyMap<ToolCall, AttemptId | null>,
): Promise<void> {
  const open = [...begunIn].filter(([tool]) => tool.ending === null)
  for (const id of new Set(open.map(([, attemptId]) => attemptId))) {
    for (const { ask, answer } of id === null ? [] : await store.listQuestions(id)) {
      const tool = byId.get(ask.toolUseId)
      const waited = waitedFor(ask.type === 'question-ask' ? 'answer' : 'permission', answer)
      // What was asked last counts.
      if (tool) tool.waited = waited
    }
  }
}

const EARLIER: readonly EventType[] = [
  'attempt-start',
  'attempt-end',
  'turn-end',
  'stop-request',
  'prompt-accept',
  'tool-start',
  'tool-end',
  'text-end',
]

/**
 * What the session holds although no attempt of this run began was given to a process that was kept waiting for it, and
 * died before it said that it had taken it.
 */
export function toInterruption(earlier: EarlierAttempts, promptRecorded: boolean): Interruption | null {
  const how = earlier.how ?? (promptRecorded ? 'the agent was interrupted' : null)
  if (how === null) return null
  const { tools, toolsSincePrompt, saying } = earlier
  return { how, tools, toolsSincePrompt, saying, promptRecorded }
}
