/** The change feed. */
import { RepriseError } from '../../contract/errors.ts'
import type { Changes } from '../../engine/api.ts'
import { AFTER_ALL } from '../../engine/follow/changes.ts'
import { createChangeChunks } from '../base/changes.ts'
import { type Handlers, respond } from '../base/handler.ts'
import { encodingFor, headersOf, type StreamOptions, streamChunks } from '../base/stream.ts'

export function changeHandlers(
  changes: Changes | undefined,
  streams: StreamOptions,
): Pick<Handlers, 'followChanges'> {
  const chunks = changes && createChangeChunks(changes)
  return {
    followChanges: ({ query, headers }, c) => {
      if (!chunks) throw new RepriseError('not-found', 'this daemon has no change feed')
      // EventSource repeats the query when it reconnects; the header is then newer.
      const asked = headers['last-event-id'] ?? query.after ?? '0'
      const after = asked === 'latest' ? AFTER_ALL : Number(asked)
      const follow = query.follow !== 'false'
      const encoding = encodingFor(c.req.header('accept'))
      const stream = streamChunks(
        (context) => chunks.follow({ after, follow }, context),
        encoding,
        streams,
        c,
      )
      return respond(200, stream, headersOf(encoding))
    },
  }
}
