/** Checks what the model was sent, and what it cost, from the simulator's records. */
import type { RunEvent } from '../../src/contract/events.ts'
import type { RequestRecord } from '../../src/simulator/request-record.ts'
import { FALLBACK_RULE, isTask, PROMPT_RULE, promptsIn } from './scenario.ts'
import type { Settled, Tell } from './settled.ts'
import type { SoakClock } from './soak-clock.ts'

/** Returns how many prompts were given to a session again. */
export function checkRequests(
  requests: readonly RequestRecord[],
  settled: readonly Settled[],
  clock: SoakClock,
  tell: Tell,
): number {
  for (const request of requests) {
    const where = `request ${request.n} of session ${request.sessionId}`
    if (request.rule === FALLBACK_RULE)
      tell(`${where}: the scenario has no answer to ${quote(request.userText)}`)
    // I5: a history that contains a prompt twice was resumed and given that prompt again.
    const prompts = promptsIn(userTexts(request))
    // A handoff to the next tier names the task.
    const twice = prompts.filter((tag, index) => prompts.indexOf(tag) !== index && !isTask(tag, 'chain'))
    if (twice.length > 0) tell(`${where} holds ${[...new Set(twice)].join(', ')} more than once`)
  }
  const owners = findOwners(requests, settled, clock)
  const byTag = Map.groupBy(settled, ({ tag }) => tag)
  return [...byTag].reduce((sum, [tag, runs]) => sum + checkRepeats(requests, tag, runs, owners, tell), 0)
}

/**
 * A prompt is given to a session again only if the session had not recorded it, that is, if its process was killed
 * before the model answered. Once part of the answer was stored, the prompt must not be given again.
 */
function checkRepeats(
  requests: readonly RequestRecord[],
  tag: string,
  runs: readonly Settled[],
  owners: Owners,
  tell: Tell,
): number {
  // A request that the model refused, or whose answer it cut off, does not count: the CLI itself asks again.
  const starts = requests.filter(
    (r) =>
      r.rule === PROMPT_RULE &&
      r.outcome !== 'failed' &&
      r.outcome !== 'cut' &&
      promptsIn(r.userText).at(-1) === tag,
  )
  let repeated = 0
  for (const [index, start] of starts.entries()) {
    const before = starts.slice(0, index).findLast((earlier) => earlier.sessionId === start.sessionId)
    if (!before) continue
    repeated++
    for (const { run, events } of runs) {
      const attempt = run.attempts.find(({ id }) => id === owners.get(before)?.id)
      const answered = events.some(
        (event) =>
          event.attemptId === attempt?.id && (event.type === 'tool-start' || event.type === 'text-end'),
      )
      if (attempt && answered) {
        tell(
          `${tag} (${run.id}): the prompt was given again (request ${start.n}) though attempt ${attempt.id} had answered it (request ${before.n})`,
        )
      }
    }
  }
  return repeated
}

/**
 * I7, for output tokens and for all tokens. An attempt that reported the end of its turn must have counted every
 * request. One that was killed can have missed only its last request, because the CLI prints a whole answer before the
 * next request. The same holds for one that we stopped: an interrupted CLI drops the answer in progress and reports
 * nothing of it. So a run's figure lies between the sum without, and the sum with, the last request of each such
 * attempt. A last answer that only began counts as the one token that its beginning announces.
 */
export function checkMoney(
  requests: readonly RequestRecord[],
  settled: readonly Settled[],
  clock: SoakClock,
  tell: Tell,
): void {
  const charged = requests.filter((request) => request.usage !== undefined)
  const owners = findOwners(charged, settled, clock)
  for (const { tag, run, events } of settled) {
    const ranges = { output: { atLeast: 0, atMost: 0 }, all: { atLeast: 0, atMost: 0 } }
    for (const attempt of run.attempts) {
      const own = charged.filter((request) => owners.get(request)?.id === attempt.id)
      const reported =
        !STOPPED.includes(attempt.outcome?.name ?? '') &&
        events.some((event) => event.attemptId === attempt.id && event.type === 'turn-end')
      // An agent that could not print into a full disk went on for a moment, and nobody saw what it was charged. The
      // run says so.
      const unseen = events.some(
        (event) => event.attemptId === attempt.id && event.type === 'gap' && event.reason === 'disk-full',
      )
      // The CLI does not count an answer that was cut off; it asks again.
      const whole = own.filter(({ outcome }) => outcome !== 'cut')
      const sure = reported ? whole : whole.slice(0, -1)
      const unsure = own.filter((request) => !sure.includes(request))
      for (const [kind, of] of [
        ['output', outputOf],
        ['all', allOf],
      ] as const) {
        const sum = sure.reduce((tokens, request) => tokens + of(request), 0)
        if (!unseen) ranges[kind].atLeast += sum
        // The beginning of an answer announces one token of output.
        ranges[kind].atMost += unsure.reduce(
          (tokens, request) => tokens + of(request) + (outputOf(request) === 0 ? 1 : 0),
          sum,
        )
      }
    }
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = run.usage
    const counted = {
      output: outputTokens,
      all: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens,
    }
    for (const kind of ['output', 'all'] as const) {
      const { atLeast, atMost } = ranges[kind]
      if (counted[kind] >= atLeast && counted[kind] <= atMost) continue
      const range = atLeast === atMost ? `${atMost}` : `${atLeast} to ${atMost}`
      tell(`${tag} (${run.id}) counts ${counted[kind]} tokens (${kind}); the simulator ${range}`)
    }
  }
  for (const request of charged) {
    if (owners.has(request)) continue
    tell(`request ${request.n} of session ${request.sessionId} was made outside of any attempt`)
  }
}

const STOPPED: readonly string[] = ['cancelled', 'timed-out', 'budget']

const outputOf = ({ usage }: RequestRecord) => usage?.output_tokens ?? 0
const allOf = ({ usage }: RequestRecord) =>
  usage
    ? usage.input_tokens +
      usage.cache_creation_input_tokens +
      usage.cache_read_input_tokens +
      usage.output_tokens
    : 0

/** A busy simulator reads a request some time after the agent sent it; the agent may have been killed since. */
const READ_LATE_MS = 2000

type Attempt = Settled['run']['attempts'][number]
type Owners = ReadonlyMap<RequestRecord, Attempt>

/** The attempt that made each request: sessions have one writer at a time, so session and time identify it. */
function findOwners(
  requests: readonly RequestRecord[],
  settled: readonly Settled[],
  clock: SoakClock,
): Owners {
  const spans = settled.flatMap((one) => spansOf(one, clock))
  const owners = new Map<RequestRecord, Attempt>()
  for (const request of requests) {
    const at = request.at.getTime()
    const within = (lateMs: number) =>
      spans.find(
        ({ attempt, from, to }) =>
          attempt.agentSessionId === request.sessionId && from <= at && at <= to + lateMs,
      )
    const owner = within(0) ?? within(READ_LATE_MS)
    if (owner) owners.set(request, owner.attempt)
  }
  return owners
}

/**
 * When the attempts of a run began and ended, by the machine's clock. The times of runs and attempts follow a clock that is
 * set, those of events do not.
 */
function spansOf(
  { run, events }: Settled,
  clock: SoakClock,
): { attempt: Attempt; from: number; to: number }[] {
  const timeOf = (attempt: Attempt, type: RunEvent['type'], otherwise: number) => {
    const event = events.find((one) => one.type === type && one.attemptId === attempt.id)
    if (!event) return otherwise
    const shown = new Date(event.at)
    return shown.getTime() - clock.aheadMs(shown)
  }
  return run.attempts.map((attempt) => ({
    attempt,
    from: timeOf(attempt, 'attempt-start', Number.POSITIVE_INFINITY),
    to: timeOf(attempt, 'attempt-end', Number.POSITIVE_INFINITY),
  }))
}

function userTexts(request: RequestRecord): string {
  return request.messages
    .filter((message) => message.role === 'user')
    .flatMap(({ content }) =>
      typeof content === 'string'
        ? [content]
        : content.flatMap((block) =>
            block.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
          ),
    )
    .join('\n')
}

const quote = (text: string) => JSON.stringify(text.slice(0, 160))
