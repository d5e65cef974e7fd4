/**
 * For a route whose body may be left out. The validator takes a missing Content-Type for a missing body, and passes by
 * a body of another type; clients, however, say application/json and send nothing.
 */
import type { MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'

export const optionalJsonBody: MiddlewareHandler = async (c, next) => {
  const type = c.req.header('content-type')
  if ((await c.req.text()).trim() === '') c.req.raw.headers.delete('content-type')
  else if (!/^application\/([\w.-]+\+)?json\b/i.test(type ?? '')) throw new HTTPException(415)
  await next()
}
