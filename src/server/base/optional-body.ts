/**
 * For a route whose body may be left out. The validator takes a missing Content-Type for a missing body; clients,
 * however, say application/json and send nothing.
 */
import type { MiddlewareHandler } from 'hono'

export const optionalBody: MiddlewareHandler = async (c, next) => {
  if ((await c.req.text()) === '') c.req.raw.headers.delete('content-type')
  await next()
}
