/**
 * The streams of an engine in the same process. A reader that is behind when the engine is closed still gets everything
 * that was stored by then: it is read into memory before the database is closed.
 */
import { isDeepStrictEqual } from 'node:util'
import type { FollowOptions } from '../client/follow.ts'
import type { StreamCalls } from '../client/streams.ts'
import type { Change, Reload } from '../contract/change.ts'
import type { RunEvent } from '../contract/events.ts'
import type { JobDetail, JobEnd } from '../contract/job.ts'
import type { RunDetail } from '../contract/run.ts'
import { roughChars } from '../core/rough-chars.ts'
import type { Changes } from '../engine/api.ts'
import { AFTER_ALL, followChanges } from '../engine/follow/changes.ts'
import {
  followJob,
  hasSeenEnd,
  type JobEventSource,
  type JobPosition,
  parsePosition,
} from '../engine/follow/job-events.ts'
import type { FollowContext } from '../engine/follow/notice.ts'
import { followRun, isOver, PageSize } from '../engine/follow/run-events.ts'
import { closedError } from './closed.ts'

/** Losing a notice costs at most this time. */
const LOOK_AGAIN_MS = 15_000

interface Source<Item, Position> {
  read: (after: Position, follow: boolean, context: FollowContext) => AsyncGenerator<readonly Item[], void>
  positionOf: (item: Item) => Position
  isEnd: (item: Item) => boolean
  /** Whether a reader at this position has seen the end, or need not see it. */
  isOver: (position: Position) => Promise<boolean>
}

/** The part of a stream that was stored when the engine was closed. */
interface Rest {
  items: readonly unknown[]
  over: boolean
}

/** Finds a run or a job by what a caller gives as its id. */
export interface Finder {
  run: (id: string) => Promise<RunDetail>
  job: (id: string) => Promise<JobDetail>
}

export class InProcessStreams {
  readonly #engine: JobEventSource & Changes
  readonly #find: Finder
  readonly #closing = new AbortController()
  readonly #readers = new Map<object, () => Promise<Rest>>()
  readonly #rests = new Map<object, Promise<Rest>>()

  constructor(engine: JobEventSource & Changes, find: Finder) {
    this.#engine = engine
    this.#find = find
  }

  get ended(): AbortSignal {
    return this.#closing.signal
  }

  readonly calls: StreamCalls = {
    events: (id, options = {}) => this.#events(id, options),
    jobEvents: (id, options = {}) => this.#jobEvents(id, options),
    changes: (options = {}) => this.#changes(options),
  }

  /** Must be called while the store can still be read. */
  async close(): Promise<void> {
    // Known to the readers before they are woken.
    for (const [reader, readRest] of this.#readers) this.#rests.set(reader, readRest())
    const rests = [...this.#rests.values()]
    this.#closing.abort()
    await Promise.allSettled(rests)
  }

  async *#events(id: string, options: FollowOptions): AsyncGenerator<RunEvent, void> {
    const { id: runId } = await this.#find.run(id)
    const size = new PageSize()
    yield* this.#follow<RunEvent, number>(
      {
        read: (after, follow, context) =>
          sized(followRun(this.#engine, { runId, after, follow }, context, size), size),
        positionOf: ({ seq }) => seq,
        isEnd: ({ type }) => type === 'run-end',
        isOver: (after) => isOver(this.#engine, runId, after),
      },
      options.after ?? 0,
      options,
    )
  }

  async *#jobEvents(id: string, options: FollowOptions<string>): AsyncGenerator<RunEvent, void> {
    const { id: jobId, ...asked } = await this.#find.job(id)
    const size = new PageSize()
    const start = options.after === undefined ? null : parsePosition(options.after, { id: jobId, ...asked })
    const items = this.#follow<RunEvent | JobEnd, JobPosition | null>(
      {
        read: (after, follow, context) =>
          sized(followJob(this.#engine, { jobId, after, follow }, context, size), size),
        positionOf: (item) => ({ runId: item.runId, seq: item.type === 'job-end' ? 'end' : item.seq }),
        isEnd: ({ type }) => type === 'job-end',
        isOver: async (after) => hasSeenEnd(await this.#engine.getJob(jobId), after),
      },
      start,
      options,
    )
    for await (const item of items) if (item.type !== 'job-end') yield item
  }

  async *#changes(options: FollowOptions<number | 'latest'>): AsyncGenerator<Change | Reload, void> {
    yield* this.#follow<Change | Reload, number>(
      {
        read: (after, follow, context) => followChanges(this.#engine, { after, follow }, context),
        positionOf: (item) => ('reload' in item ? item.newest : item.seq),
        isEnd: () => false,
        isOver: async () => true,
      },
      options.after === 'latest' ? AFTER_ALL : (options.after ?? 0),
      options,
    )
  }

  async *#follow<Item, Position>(
    source: Source<Item, Position>,
    start: Position,
    { follow = true, signal }: FollowOptions<unknown>,
  ): AsyncGenerator<Item, void> {
    signal?.throwIfAborted()
    if (this.ended.aborted) throw closedError()
    const context = {
      heartbeatMs: LOOK_AGAIN_MS,
      ended: signal ? AbortSignal.any([signal, this.ended]) : this.ended,
    }
    let position = start
    const reader = {}
    this.#readers.set(reader, async () => {
      const never = { heartbeatMs: LOOK_AGAIN_MS, ended: new AbortController().signal }
      const items: Item[] = []
      for await (const page of source.read(position, false, never)) items.push(...page)
      const last = items.at(-1)
      return { items, over: await source.isOver(last === undefined ? position : source.positionOf(last)) }
    })
    try {
      for await (const page of source.read(position, follow, context)) {
        const last = page.at(-1)
        if (last !== undefined) position = source.positionOf(last)
        for (const item of page) {
          signal?.throwIfAborted()
          yield item
          if (follow && source.isEnd(item)) return
        }
      }
      signal?.throwIfAborted()
      if (!follow || !this.ended.aborted) return
      const rest = await this.#rests.get(reader)
      const items = (rest?.items ?? []) as Item[]
      // A page that was being read when the engine was closed may have come in addition.
      const seen = items.findIndex((item) => isDeepStrictEqual(source.positionOf(item), position))
      for (const item of items.slice(seen + 1)) {
        yield item
        if (source.isEnd(item)) return
      }
      if (!rest?.over) throw closedError()
    } finally {
      this.#readers.delete(reader)
      this.#rests.delete(reader)
    }
  }
}

async function* sized<Item>(
  pages: AsyncGenerator<readonly Item[], void>,
  size: PageSize,
): AsyncGenerator<readonly Item[], void> {
  for await (const page of pages) {
    size.note(roughChars(page))
    yield page
  }
}
