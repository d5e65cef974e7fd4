/** What an attempt that has ended left in the store, as step 6 of the path reads it. */
import type { EventBody, EventType } from '../../contract/events.ts'
import { endOfTurn } from '../../core/turn.ts'
import type { AttemptRecord } from '../../store/runs/attempt-records.ts'
import type { RunRecord, StoredEvent } from '../../store/runs/records.ts'
import type { Store } from '../../store/store.ts'

export interface Trace {
  /** Read anew: a cancel or a stop cause may have been stored since the attempt began. */
  run: RunRecord
  /** The attempt as it is stored, and all attempts of its run. */
  attempt: AttemptRecord
  attempts: readonly AttemptRecord[]
  /** The relevant events of the run, and those of this attempt. */
  events: readonly StoredEvent[]
  own: readonly StoredEvent[]
  /** The end of what the attempt was started for: a turn, or making room. */
  turnEnd: ReturnType<typeof endOfTurn>
  /** The agent has taken the prompt: it knows what it was told, and may have worked. */
  tookPrompt: boolean
  /** The attempt was at a question that has been edited since. */
  outdated: boolean
  /** The session id that the agent itself gave, where it is another one than we know. */
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
 * The newest id the agent's own start message gave: older CLIs mint a new one at each resume. An id in an error is
 * not believed; it may be the very one that was refused.
 */
function reportedSession(events: readonly StoredEvent[], attempt: AttemptRecord): string | null {
  const id = events.flatMap(({ body }) => (body.type === 'session-start' ? [body.agentSessionId] : [])).at(-1)
  return id && id !== attempt.agentSessionId ? id : null
}

/** Before any of these an agent has not begun to work on what it was given. */
const BEGINS_TURN: readonly EventType[] = ['session-start', 'prompt-accept', 'model-call']

export const hasBegun = ({ own }: Trace): boolean => own.some(({ body }) => BEGINS_TURN.includes(body.type))

/** The ids of prompts that the agent has taken besides the one that the attempt was started with. */
export const takenAfterFirst = ({ own, attempt }: Trace): Set<string> =>
  new Set(
    own.flatMap(({ body }) =>
      body.type === 'prompt-accept' && body.messageId !== attempt.promptId ? [body.messageId] : [],
    ),
  )

export const isModelCall = ({ body }: StoredEvent) => body.type === 'model-call'
export const isCompaction = ({ body }: StoredEvent) => body.type === 'compaction'

const addsSomething = ({ body }: StoredEvent) =>
  body.type === 'model-call' && (body.usage.outputTokens ?? 0) > 0

/** The ids of the attempts that added something. */
export const progressedIn = ({ events }: Trace): ReadonlySet<string | null> =>
  new Set(events.filter(addsSomething).map((event) => event.attemptId))

export function countModelCalls({ events }: Trace): number {
  const idOf = (body: EventBody) => (body.type === 'model-call' ? [body.messageId] : [])
  return new Set(events.flatMap(({ body }) => idOf(body))).size
}

/** How many of the newest attempts in a row added nothing, and since when. */
export function fruitlessOf(
  { attempts, attempt }: Trace,
  progressed: ReadonlySet<string | null>,
  now: Date,
): { fruitless: number; fruitlessSince: Date } {
  const upTo = attempts.filter((a) => a.number <= attempt.number).toReversed()
  const first = upTo.findIndex((a) => progressed.has(a.id))
  const fruitless = first === -1 ? upTo.length : first
  return { fruitless, fruitlessSince: upTo[fruitless - 1]?.startedAt ?? now }
}
