/** The streams of the daemon: events of runs and jobs, and changes. */
import type { Change, Reload } from '../contract/change.ts'
import { RepriseError } from '../contract/errors.ts'
import type { RunEvent } from '../contract/events.ts'
import type { JobEnd } from '../contract/job.ts'
import type { StreamId } from '../contract/routes/types.ts'
import { type FollowOptions, followStream } from './follow.ts'
import type { Input, Open } from './request.ts'

export interface StreamCalls {
  /** Every event once and in order; reconnects by itself. Without `follow: false`, until the run has ended. */
  events: (id: string, options?: FollowOptions) => AsyncGenerator<RunEvent, void>
  /**
   * The events of all runs of a job, in order; reconnects by itself. Without `follow: false`, until the job has ended
   * or needs a person. `after` is `<run>:<number of the event>`.
   */
  jobEvents: (id: string, options?: FollowOptions<string>) => AsyncGenerator<RunEvent, void>
  /**
   * The changes after the number `after`; reconnects by itself, and ends only with `follow: false` or `signal`.
   * `{reload: true}` means that changes were missed: reload what is shown, then continue reading. `after: 'latest'`
   * begins with such a reload.
   */
  changes: (options?: FollowOptions<number | 'latest'>) => AsyncGenerator<Change | Reload, void>
}

export interface StreamParts {
  open: Open
  where: () => string
  /** Called when nobody responds: the daemon may have moved to another port. */
  relocate: () => Promise<void>
}

export function streamCalls({ open, where, relocate }: StreamParts): StreamCalls {
  const openLines = async <Id extends StreamId>(id: Id, ...[input, options]: Input<Id>) => {
    try {
      return await open(id, ...([input, { accept: 'application/x-ndjson', ...options }] as Input<Id>))
    } catch (error) {
      if (error instanceof RepriseError && error.code === 'daemon-unreachable') await relocate()
      throw error
    }
  }
  const followed = (follow: boolean) => (follow ? {} : { follow: 'false' as const })

  async function* jobEvents(id: string, options: FollowOptions<string> = {}): AsyncGenerator<RunEvent, void> {
    const items = followStream<RunEvent | JobEnd, string>(
      {
        where: where(),
        open: (after, follow, signal) =>
          openLines('followJobEvents', { params: { id }, query: { after, ...followed(follow) } }, { signal }),
        advance: (item) => `${item.runId}:${item.type === 'job-end' ? 'end' : item.seq}`,
        isEnd: (item) => item.type === 'job-end',
      },
      options,
    )
    for await (const item of items) if (item.type !== 'job-end') yield item
  }

  return {
    events: (id, options = {}) =>
      followStream<RunEvent, number>(
        {
          where: where(),
          open: (after, follow, signal) =>
            openLines(
              'followRunEvents',
              { params: { id }, query: { after: String(after), ...followed(follow) } },
              { signal },
            ),
          advance: ({ seq }, after = 0) => (seq > after ? seq : null),
          isEnd: ({ type }) => type === 'run-end',
        },
        { ...options, after: options.after ?? 0 },
      ),
    jobEvents,
    changes: (options = {}) =>
      followStream<Change | Reload, number | 'latest'>(
        {
          where: where(),
          open: (after, follow, signal) =>
            openLines(
              'followChanges',
              { query: { ...(after === undefined ? {} : { after: `${after}` }), ...followed(follow) } },
              { signal },
            ),
          advance: (item) => ('reload' in item ? item.newest : item.seq),
          isEnd: () => false,
        },
        options,
      ),
  }
}
