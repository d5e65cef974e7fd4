/**
 * Handles of runs and jobs: async iterables of their events, with the result at the end.
 *
 * A handle does not own its run. A loop that is left early stops reading and nothing else; the run continues, and another
 * loop over the same handle reads the events from the start. `cancel`, the signal, and `await using` end the run.
 */
import type { Client } from '../client/client.ts'
import type { FollowOptions } from '../client/follow.ts'
import { RepriseError } from '../contract/errors.ts'
import type { RunEvent } from '../contract/events.ts'
import type { JobDetail } from '../contract/job.ts'
import type { ToolResult } from '../contract/question.ts'
import type { Run, RunDetail } from '../contract/run.ts'

export interface Handle<Result, Position> extends AsyncIterable<RunEvent>, AsyncDisposable {
  /** Every event once and in order, from the start, or after a position. */
  events: (options?: FollowOptions<Position>) => AsyncGenerator<RunEvent, void>
  /** Resolves when the work has ended, however it has ended: see `outcome` or `state`. */
  result: () => Promise<Result>
  /** Resolves when the work has ended. Does nothing if it has ended before. */
  cancel: () => Promise<Result>
}

export interface RunHandle extends Handle<RunDetail, number> {
  readonly id: Run['id']
  /** The run as it was when it was stored. `result` returns it as it has ended. */
  readonly created: Run
  /** Answers a question or a permission request of the agent. */
  answer: (answer: ToolResult) => Promise<Run>
}

export interface JobHandle extends Handle<JobDetail, string> {
  readonly id: JobDetail['id']
}

export function runHandle(calls: Client, created: Run, signal?: AbortSignal): RunHandle {
  const { id } = created
  return {
    id,
    created,
    answer: (answer) => calls.answer(id, answer),
    ...handle({
      events: (options) => calls.events(id, options),
      whenEnded: () => calls.whenSettled(id),
      requestCancel: () => calls.cancelRun(id),
      signal,
    }),
  }
}

/** The loop ends when the job has ended or needs a person. */
export function jobHandle(calls: Client, id: JobDetail['id'], signal?: AbortSignal): JobHandle {
  return {
    id,
    ...handle({
      events: (options) => calls.jobEvents(id, options),
      whenEnded: () => calls.whenJobEnds(id),
      requestCancel: () => calls.cancelJob(id),
      signal,
    }),
  }
}

interface Work<Result, Position> {
  events: Handle<Result, Position>['events']
  whenEnded: () => Promise<Result>
  requestCancel: () => Promise<unknown>
  signal: AbortSignal | undefined
}

function handle<Result, Position>(work: Work<Result, Position>): Handle<Result, Position> {
  let ended: Promise<Result> | null = null
  const result = () => {
    // A failure to wait is not kept: a lost connection may be back at the next call.
    ended ??= work.whenEnded().catch((error: unknown) => {
      ended = null
      throw error
    })
    return ended
  }
  const cancel = async () => {
    await work.requestCancel().catch(ignoreEnded)
    return result()
  }
  const { signal } = work
  if (signal) {
    // A failure is reported by the loop and by `result`.
    const onAbort = () => void work.requestCancel().catch(() => {})
    const done = () => signal.removeEventListener('abort', onAbort)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    result().then(done, done)
  }
  return {
    events: (options) => work.events(options),
    [Symbol.asyncIterator]: () => work.events(),
    result,
    cancel,
    [Symbol.asyncDispose]: async () => {
      await cancel()
    },
  }
}

function ignoreEnded(error: unknown): void {
  const { code } = error instanceof RepriseError ? error : {}
  if (code !== 'run-settled' && code !== 'conflict') throw error
}
