/** In requests an interval may be written as in the configuration: `every: "30m"`. The engine takes `everyMs`. */
import { RepriseError } from '../../contract/errors.ts'
import { parseDurationMs } from '../../contract/quantity.ts'

interface Interval {
  every?: string | number | undefined
  everyMs?: number | null | undefined
}

export function withEveryMs<Request extends Interval>({
  every,
  ...request
}: Request): Omit<Request, 'every'> {
  if (every === undefined) return request
  if (request.everyMs !== undefined) throw wrong('cannot be combined with everyMs; remove one of the two')
  const everyMs = typeof every === 'number' ? every : parseDurationMs(every)
  if (everyMs === undefined) {
    throw wrong(`expected a duration such as 90s, 30m or 2h, or milliseconds, got ${JSON.stringify(every)}`)
  }
  return { ...request, everyMs }
}

const wrong = (message: string) =>
  new RepriseError('bad-request', `every: ${message}`, {
    details: { in: 'body', problems: [{ field: 'every', message }] },
  })
