/**
 * The events of a run, from any point, in pages. Nothing is read before the reader has taken the last page, so a slow
 * reader costs one page of memory however far it is behind.
 */
import type { RunEvent } from '../../contract/events.ts'
import type { RunId } from '../../contract/ids.ts'
import { nextPageSize, START_PAGE } from '../../core/page-size.ts'
import type { RunEngine } from '../runs/api.ts'
import { type FollowContext, listenFor } from './notice.ts'

export type RunEventSource = Pick<RunEngine, 'listEvents' | 'onProgress' | 'getRun'>

export interface RunEventQuery {
  runId: RunId
  after: number
  /** Whether to wait for events that are still to come, until the run has ended. */
  follow: boolean
}

/** How many events the next page has. The reader says how large each page was. */
export class PageSize {
  #events = START_PAGE

  get events(): number {
    return this.#events
  }

  note(chars: number): void {
    this.#events = nextPageSize(this.#events, chars)
  }
}

/** An empty page means that nothing was new for a while. With `follow`, the last event of the last page is `run-end`. */
export async function* followRun(
  engine: RunEventSource,
  query: RunEventQuery,
  { heartbeatMs, ended }: FollowContext,
  pageSize: PageSize,
): AsyncGenerator<readonly RunEvent[], void> {
  const { runId, follow } = query
  const progress = listenFor((listener) => engine.onProgress(runId, listener))
  let after = query.after
  // A reader that starts after the last event sees no `run-end`; then the run itself says that it has ended.
  let mayBeOver = true
  try {
    while (!ended.aborted) {
      progress.rearm()
      const asked = pageSize.events
      const page = await engine.listEvents(runId, after, asked)
      const last = page.at(-1)
      if (last) {
        after = last.seq
        mayBeOver = false
        yield page
        if (last.type === 'run-end' && follow) return
      }
      // A full page may not be all there is.
      if (page.length === asked) continue
      if (!follow || (mayBeOver && (await isOver(engine, runId, after)))) return
      if (await progress.wait(heartbeatMs, ended)) continue
      mayBeOver = true
      if (!ended.aborted) yield []
    }
  } finally {
    progress.close()
  }
}

/**
 * Whether the run has ended and has no event after `after`. The state is read first: the end may come between the
 * two reads.
 */
export async function isOver(engine: RunEventSource, runId: RunId, after: number): Promise<boolean> {
  const { state } = await engine.getRun(runId)
  return state === 'settled' && (await engine.listEvents(runId, after, 1)).length === 0
}
