/**
 * Puts the operations of the table on the app. What guards an operation is registered with it, so that the router which
 * chooses the operation also chooses its guards: first who calls and whether they may, then the limit of the body, then
 * the request is validated, handled and answered as the table says.
 */
import type { Context, Hono, MiddlewareHandler } from 'hono'
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status'
import type { RouteSpec } from '../../contract/routes/route.ts'
import { ALL_ROUTES, type Route } from './all-routes.ts'
import { limitBody } from './body-limit.ts'
import type { Handlers } from './handler.ts'
import { refuseWithoutCredentials } from './hook-auth.ts'
import { type ValidRequest, validateRequest } from './validate.ts'

interface Reply {
  status: number
  body: unknown
  headers?: Readonly<Record<string, string>>
}

/** A handler without the types of its operation, which the table has checked at compile time. */
type AnyHandler = (request: ValidRequest, context: Context) => Reply | Promise<Reply>

export function registerRoutes(
  app: Hono,
  handlers: Handlers,
  guard: (route: Route) => MiddlewareHandler,
): void {
  for (const route of ALL_ROUTES) {
    const { id, method, pattern, spec } = route
    const handle = handlers[id] as AnyHandler
    app.on(method, pattern, guard(route), ...bodyGuards(spec), async (c) =>
      send(c, await handle(await validateRequest(spec, c), c)),
    )
  }
}

/** A file is read as a stream, and its content is limited where it is read. */
function bodyGuards({ auth, bodyLimit, bodyBytes }: RouteSpec): MiddlewareHandler[] {
  return [
    ...(auth === 'hook' ? [refuseWithoutCredentials] : []),
    ...(bodyBytes === undefined ? [limitBody(bodyLimit ?? 'general')] : []),
  ]
}

async function send(c: Context, { status, body, headers = {} }: Reply): Promise<Response> {
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  if (body === undefined) return c.body(null, status as StatusCode)
  // The router gives HEAD to the handler of GET; nobody would read the stream.
  if (body instanceof ReadableStream && c.req.method === 'HEAD') {
    await body.cancel()
    return c.body(null, status as StatusCode)
  }
  if (body instanceof ReadableStream) return c.body(body, status as ContentfulStatusCode)
  return c.json(body, status as ContentfulStatusCode)
}
