/** Reads what an ended attempt left in the store, for step 6 of the path. */
import type { EventBody, EventType } from '../../contract/events.ts'
import { endOfTurn } from '../../core/turn.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord, StoredEvent } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

export interface Trace {
  /** Read again, because a cancellation or stop cause may have been stored since the attempt began. */
  run: RunRecord
  /** The stored attempt, and all attempts of its run. */
  attempt: AttemptRecord
  attempts: readonly AttemptRecord[]
  /** The relevant events of the run, and those of this attempt. */
  events: readonly StoredEvent[]
  own: readonly StoredEvent[]
  /** The end of the turn or compaction that the attempt was started for. */
  turnEnd: ReturnType<typeof endOfTurn>
  /** The agent accepted the prompt, so it knows its texts and may have worked. */
  tookPrompt: boolean
  /** The question was edited after the attempt began. */
  outdated: boolean
  /** The session id that the agent reported, if it differs from the one we know. */
  reportedSession: string | null
}

const RELEVANT: readonly EventType[] = [
  'session-start',
  'prompt-accept',
  'model-call',
  'turn-end',
  'rate-limit',
  'retry-wait',
  'compaction',
  'reminder',
  'memory-clear',
  'background',
  'question-cancel',
]

export async function readTrace(
  store: Pick<Store, 'getRun' | 'listAttempts' | 'listEvents'>,
  known: RunRecord,
  attempt: AttemptRecord,
): Promise<Trace> {
  const run = (await store.getRun(attempt.runId)) ?? known
  const attempts = await store.listAttempts(run.id)
  const events = await store.listEvents(run.id, { types: RELEVANT })
  const own = events.filter((event) => event.attemptId === attempt.id)
  const isTurn = attempt.kind === 'turn'
  return {
    run,
    attempt: attempts.find((a) => a.id === attempt.id) ?? attempt,
    attempts,
    events,
    own,
    turnEnd: endOfTurn(own, attempt.promptId),
    tookPrompt: isTurn && own.some(({ body }) => body.type === 'prompt-accept' || body.type === 'model-call'),
    outdated: attempt.number <= run.outdatedAttempts,
    reportedSession: reportedSession(own, attempt),
  }
}

/**
 * The newest session id in the agent's own start messages: older CLIs create a new one at each resume. An id in an
 * error message is ignored, because it may be the one that was refused.
 */
function reportedSession(events: readonly StoredEvent[], attempt: AttemptRecord): string | null {
  const id = events.flatMap(({ body }) => (body.type === 'session-start' ? [body.agentSessionId] : [])).at(-1)
  return id && id !== attempt.agentSessionId ? id : null
}

/** The events with which an agent begins to work on its prompt. */
const BEGINS_TURN: readonly EventType[] = ['session-start', 'prompt-accept', 'model-call']

/** A process that waited has begun before, so its end says nothing about the session. */
export const hasBegun = ({ own, attempt }: Trace): boolean =>
  joinedProcess(attempt) || own.some(({ body }) => BEGINS_TURN.includes(body.type))

/** The ids of accepted prompts, except the one that the attempt was started with. */
export const takenAfterFirst = ({ own, attempt }: Trace): Set<string> =>
  new Set(
    own.flatMap(({ body }) =>
      body.type === 'prompt-accept' && body.messageId !== attempt.promptId ? [body.messageId] : [],
    ),
  )

/** The attempt was given to a process that waited for it. */
export const joinedProcess = ({ id, spool }: Pick<AttemptRecord, 'id' | 'spool'>) => id !== spool

export const isModelCall = ({ body }: StoredEvent) => body.type === 'model-call'

/**
 * The session was compacted and may lack the texts that are sent once. It has them if the agent was told everything
 * again and then completed its turn; an agent that died may not have recorded what it was told.
 */
export function hasForgotten(own: readonly StoredEvent[], completed: boolean): boolean {
  let remindedBy: string | null = null
  let forgotten = false
  for (const { body } of own) {
    // The agent is reminded before it reports the compaction. It withdraws a question that nobody answers for too long.
    if (body.type === 'reminder' && body.whole && completed) remindedBy = body.requestId
    if (body.type === 'question-cancel' && body.requestId === remindedBy) remindedBy = null
    if (body.type !== 'compaction') continue
    forgotten = remindedBy === null
    remindedBy = null
  }
  return forgotten
}

const addsSomething = ({ body }: StoredEvent) =>
  body.type === 'model-call' && (body.usage.outputTokens ?? 0) > 0

/** The ids of the attempts that made progress. */
export const progressedIn = ({ events }: Trace): ReadonlySet<string | null> =>
  new Set(events.filter(addsSomething).map((event) => event.attemptId))

export function countModelCalls({ events }: Trace): number {
  const idOf = (body: EventBody) => (body.type === 'model-call' ? [body.messageId] : [])
  return new Set(events.flatMap(({ body }) => idOf(body))).size
}

/** How many of the newest attempts made no progress, and since when. */
export function countWithoutProgress(
  { attempts, attempt }: Trace,
  progressed: ReadonlySet<string | null>,
  now: Date,
): { withoutProgress: number; withoutProgressSince: Date } {
  const upTo = attempts.filter((a) => a.number <= attempt.number).toReversed()
  const first = upTo.findIndex((a) => progressed.has(a.id))
  const withoutProgress = first === -1 ? upTo.length : first
  return { withoutProgress, withoutProgressSince: upTo[withoutProgress - 1]?.startedAt ?? now }
}
