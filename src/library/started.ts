/**
 * Which runs and jobs were started through a connection, so that closing it can cancel those that are still active. A
 * daemon may have others, which belong to somebody else.
 */
import type { Client, Connection } from '../client/client.ts'
import { RepriseError } from '../contract/errors.ts'
import type { Page } from '../contract/http.ts'
import { wrapRequests } from './wrap.ts'

export class Started {
  readonly #runs = new Set<string>()
  readonly #jobs = new Set<string>()
  readonly #starting = new Set<Promise<unknown>>()

  /** The same connection; what is started through it is noted. */
  watch(connection: Connection): Connection {
    return wrapRequests(connection, (request, send) => {
      const { id } = request
      if (!RUN_STARTS.has(id) && !TURN_STARTS.has(id) && !JOB_STARTS.has(id)) return send(request)
      const starting = send(request).then((response) => {
        this.#note(id, response)
        return response
      })
      this.#starting.add(starting)
      const done = () => this.#starting.delete(starting)
      starting.then(done, done)
      return starting
    })
  }

  #note(operation: string, response: unknown): void {
    if (RUN_STARTS.has(operation)) this.#runs.add((response as { id: string }).id)
    if (TURN_STARTS.has(operation)) this.#runs.add((response as { run: { id: string } }).run.id)
    if (JOB_STARTS.has(operation)) this.#jobs.add((response as { id: string }).id)
  }

  /**
   * Cancels what is still active. With `wait` it resolves when all of it has ended; an engine in this process waits itself
   * when it is closed. Rejects if a cancellation could not be stored.
   */
  async cancel(calls: Client, { wait }: { wait: boolean }): Promise<void> {
    await Promise.allSettled(this.#starting)
    const jobs = await activeOf(this.#jobs, JOB_ACTIVE, (state, cursor) => calls.listJobs({ state, cursor }))
    const runs = await activeOf(this.#runs, RUN_ACTIVE, (state, cursor) => calls.listRuns({ state, cursor }))
    await Promise.all([
      ...jobs.map(async (id) => {
        await calls.cancelJob(id).catch(ignoreEnded)
        if (wait) await calls.whenJobEnds(id)
      }),
      ...runs.map(async (id) => {
        await calls.cancelRun(id).catch(ignoreEnded)
        if (wait) await calls.whenSettled(id)
      }),
    ])
  }
}

/** It may have ended meanwhile, which is just as well. */
function ignoreEnded(error: unknown): void {
  if (error instanceof RepriseError && error.code === 'home-unusable') throw error
}

const RUN_STARTS: ReadonlySet<string> = new Set(['createRun', 'continueRun'])
const TURN_STARTS: ReadonlySet<string> = new Set(['createTurn', 'retryTurn'])
const JOB_STARTS: ReadonlySet<string> = new Set(['createJob', 'retryJob'])
const RUN_ACTIVE = ['queued', 'running'] as const
const JOB_ACTIVE = ['queued', 'running', 'waiting'] as const

async function activeOf<State>(
  started: ReadonlySet<string>,
  states: readonly State[],
  list: (state: State, cursor: string | undefined) => Promise<Page<{ id: string }>>,
): Promise<string[]> {
  const found: string[] = []
  if (started.size === 0) return found
  for (const state of states) {
    let cursor: string | undefined
    do {
      const { items, nextCursor } = await list(state, cursor)
      found.push(...items.map(({ id }) => id).filter((id) => started.has(id)))
      cursor = nextCursor ?? undefined
    } while (cursor !== undefined)
  }
  return found
}
