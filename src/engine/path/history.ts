/** Reads the history of a run from the store: the turns before it, and the work of its earlier attempts. */
import type { EventType } from '../../contract/events.ts'
import type { AttemptId, RunId, SessionId } from '../../contract/ids.ts'
import { toParts } from '../../core/history/render.ts'
import { type Interruption, type Step, type ToolCall, waitedFor } from '../../core/prompt/interruption.ts'
import type { PastPart, PastTurn } from '../../core/prompt/past.ts'
import type { KnownOutsideTurn } from '../../store/conversations/outside.ts'
import type { RunRecord, StoredEvent } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'
import { scanEvents } from '../base/events.ts'
import { readUnfinishedText } from './unfinished-text.ts'
import { readParts, WorkLog } from './work-log.ts'

const PAGE = 200

export type PastStore = Pick<
  Store,
  'getSession' | 'listOutsideTurns' | 'listRuns' | 'listEvents' | 'countEvents'
>

export interface PastLimit {
  /** Only turns before this run are read. */
  before: Pick<RunRecord, 'id'>
  /** Runs that worked on the same task; they do not count as earlier turns. */
  own: ReadonlySet<RunId>
}

/**
 * Oldest first. A session that was started with the history of another one continues it, so its history includes both.
 * Texts that are too long are cut when the prompt is composed. `wholeChars` limits how much of the agents' work is
 * read, newest first; of the remaining turns only the final answer is read.
 */
export async function readPastTurns(
  store: PastStore,
  sessionId: SessionId | null,
  until: PastLimit,
  wholeChars = 0,
): Promise<PastTurn[]> {
  const past: Past[] = []
  const seen = new Set<SessionId>()
  for (let id = sessionId; id !== null && !seen.has(id); ) {
    seen.add(id)
    const { turns: found, cleared } = await pastOfSession(store, id, until)
    past.push(...found)
    if (cleared) break
    id = (await store.getSession(id))?.continues ?? null
  }
  let room = wholeChars
  const turns: PastTurn[] = []
  for (const [index, { by, outside }] of past.entries()) {
    const { parts, chars } = by && room > 0 ? await readParts(store, by, room) : { parts: [], chars: 0 }
    room -= chars
    const told = by ? toTurn(by, parts) : toOutsideTurn(outside)
    turns.unshift({ ...told, turn: past.length - index })
  }
  return turns
}

/** One of our runs, or a turn that was made in the session outside Reprise. */
type Past = { at: Date } & ({ by: RunRecord; outside?: never } | { by?: never; outside: KnownOutsideTurn })

/** Newest first. `cleared` means that the agent was told to forget everything before these turns. */
async function pastOfSession(
  store: PastStore,
  id: SessionId,
  { before, own }: PastLimit,
): Promise<{ turns: Past[]; cleared: boolean }> {
  const past: Past[] = (await store.listOutsideTurns(id)).map((outside) => ({ at: outside.saidAt, outside }))
  for await (const by of runsOfSession(store, id)) {
    if (by.id < before.id && by.attemptCount > 0 && !own.has(by.id)) past.push({ at: by.createdAt, by })
  }
  const turns = past.sort((a, b) => b.at.getTime() - a.at.getTime())
  for (const [index, { by }] of turns.entries()) {
    if (by && (await clearsMemory(store, by))) return { turns: turns.slice(0, index), cleared: true }
  }
  return { turns, cleared: false }
}

const clearsMemory = async (store: Pick<Store, 'countEvents'>, { id, prompt }: RunRecord) =>
  prompt.startsWith('/') && (await store.countEvents(id, 'memory-clear')) > 0

async function* runsOfSession(
  store: Pick<Store, 'listRuns'>,
  sessionId: SessionId,
): AsyncGenerator<RunRecord> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.listRuns({ limit: PAGE, sessionId, ...(cursor ? { cursor } : {}) })
    yield* page.items
    cursor = page.nextCursor
  }
}

function toTurn(run: RunRecord, parts: readonly PastPart[]): PastTurn {
  const ending =
    run.state.at === 'settled' && run.state.outcome.name !== 'completed' ? run.state.outcome.message : ''
  const words = run.resultText === null ? null : [{ kind: 'text' as const, text: run.resultText }]
  return { prompt: run.prompt, answer: parts.length > 0 ? parts : words, ...(ending ? { ending } : {}) }
}

function toOutsideTurn({ text, answer, inSession, copied }: KnownOutsideTurn): PastTurn {
  return {
    prompt: text,
    answer: answer.length > 0 ? toParts(answer) : null,
    ...(copied && inSession ? {} : { origin: inSession ? 'outside' : 'outside-branch' }),
  }
}

export interface EarlierAttempts {
  /** How the newest attempt ended; null if this is the first attempt at the task. */
  how: string | null
  /** All tool calls, also those of sub-agents, and the agent's texts since the last end of a turn, in order. */
  steps: Step[]
  /** All texts and tool calls after the agent first accepted this run's prompt. */
  stepsSincePrompt: Step[]
  /** All texts and tool calls of the agent itself, in order, with the output of the tools. */
  work: PastPart[]
  saidSomething: boolean
}

/** `runs`: the runs that worked on the same task, oldest first. */
export async function readEarlierAttempts(
  store: Pick<Store, 'listEvents' | 'listQuestions'>,
  run: RunRecord,
  runs: readonly RunRecord[],
): Promise<EarlierAttempts> {
  const earlier: EarlierAttempts = {
    how: null,
    steps: [],
    stepsSincePrompt: [],
    work: [],
    saidSomething: false,
  }
  if (runs.every(({ attemptCount, outdatedAttempts }) => attemptCount === outdatedAttempts)) return earlier
  earlier.how = 'the agent was interrupted'
  const byId = new Map<string, ToolCall>()
  const begunIn = new Map<ToolCall, AttemptId | null>()
  const cutOff = await readCutOff(store, runs)
  let makesRoom = false
  /** An agent that does not report that it accepted the prompt has accepted it from the beginning. */
  let accepted = false
  let stopped: string | null | undefined
  let outdated = false
  const log = new WorkLog()
  const add = (step: Step) => {
    earlier.steps.push(step)
    earlier.stepsSincePrompt.push(step)
  }
  const say = (text: string) => {
    add({ text })
    log.say(text)
  }
  const visit = ({ attemptId, runId, body }: StoredEvent) => {
    // Attempts from before the question was edited do not count.
    if (body.type === 'attempt-start') outdated = runId === run.id && body.number <= run.outdatedAttempts
    if (outdated) return
    if (body.type === 'attempt-end') {
      earlier.how = body.outcome.message
      const unfinished = attemptId === null || makesRoom ? undefined : cutOff.get(attemptId)
      if (unfinished !== undefined) say(unfinished)
    } else if (body.type === 'attempt-start') {
      makesRoom = body.makesRoom === true
    } else if (body.type === 'turn-end') {
      earlier.steps = earlier.steps.filter((step) => 'tool' in step)
    } else if (body.type === 'text-end') {
      if (makesRoom) return
      earlier.saidSomething = true
      if (body.parentToolUseId === undefined) say(body.text)
    } else if (body.type === 'tool-start') {
      const nested = body.parentToolUseId !== undefined
      const tool: ToolCall = { name: body.name, input: body.input, ending: null }
      byId.set(body.toolUseId, tool)
      begunIn.set(tool, attemptId)
      add({ tool, nested })
      if (!nested) log.begin(tool)
    } else if (body.type === 'tool-end') {
      const tool = byId.get(body.toolUseId)
      // A tool that ended because we stopped the agent was interrupted and may have run in part.
      if (tool && attemptId !== stopped) tool.ending = body.isError ? 'error' : 'ok'
      if (tool) log.end(tool, body.content)
    } else if (body.type === 'prompt-accept') {
      if (body.messageId !== run.promptId || accepted) return
      accepted = true
      earlier.stepsSincePrompt = []
    } else if (body.type === 'stop-request') stopped = attemptId
  }
  for (const { id } of runs) await scanEvents(store, id, { types: EARLIER }, visit)
  await readWaits(store, byId, begunIn)
  earlier.work = log.steps()
  return earlier
}

/** The unfinished text of each attempt that was interrupted while the agent was writing. */
async function readCutOff(
  store: Pick<Store, 'listEvents'>,
  runs: readonly Pick<RunRecord, 'id'>[],
): Promise<Map<AttemptId, string>> {
  const ends = new Map<AttemptId, { runId: RunId; lastText: number }>()
  const visit = ({ attemptId, runId, seq, body }: StoredEvent) => {
    const isNested = body.type === 'text-end' && body.parentToolUseId !== undefined
    if (attemptId !== null && !isNested) ends.set(attemptId, { runId, lastText: seq })
  }
  for (const { id } of runs)
    await scanEvents(store, id, { types: ['attempt-start', 'turn-end', 'text-end'] }, visit)
  const texts = new Map<AttemptId, string>()
  for (const [id, { runId, lastText }] of ends) {
    const unfinished = await readUnfinishedText(store, { id, runId }, lastText)
    if (unfinished) texts.set(id, unfinished.text)
  }
  return texts
}

/** Adds to tools that did not end what they waited for. */
async function readWaits(
  store: Pick<Store, 'listQuestions'>,
  byId: ReadonlyMap<string, ToolCall>,
  begunIn: ReadonlyMap<ToolCall, AttemptId | null>,
): Promise<void> {
  const open = [...begunIn].filter(([tool]) => tool.ending === null)
  for (const id of new Set(open.map(([, attemptId]) => attemptId))) {
    for (const { ask, answer } of id === null ? [] : await store.listQuestions(id)) {
      const tool = byId.get(ask.toolUseId)
      const waited = waitedFor(ask.type === 'question-ask' ? 'answer' : 'permission', answer)
      // The newest question of a tool overwrites earlier ones.
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
 * Describes the interruption for the next attempt. The prompt may be recorded although this run had no attempt: it was
 * sent to a kept process that died before it reported the prompt as accepted.
 */
export function toInterruption(earlier: EarlierAttempts, promptRecorded: boolean): Interruption | null {
  const how = earlier.how ?? (promptRecorded ? 'the agent was interrupted' : null)
  if (how === null) return null
  const { steps, stepsSincePrompt, work } = earlier
  return { how, steps, stepsSincePrompt, work, promptRecorded }
}
