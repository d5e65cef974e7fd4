/** Puts the operations of the table on the app: each request is validated, handled and answered as the table says. */
import type { Context, Hono } from 'hono'
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status'
import { OPERATION_IDS, type OperationId, splitPath } from '../../contract/routes/paths.ts'
import type { RouteSpec } from '../../contract/routes/route.ts'
import { ROUTES } from '../../contract/routes/table.ts'
import type { Handlers } from './handler.ts'
import { type ValidRequest, validateRequest } from './validate.ts'

interface Reply {
  status: number
  body: unknown
  headers?: Readonly<Record<string, string>>
}

/** A handler without the types of its operation, which the table has checked at compile time. */
type AnyHandler = (request: ValidRequest, context: Context) => Reply | Promise<Reply>

export interface Route {
  id: OperationId
  method: string
  /** As Hono writes it: `/api/runs/:id`. */
  pattern: string
  spec: RouteSpec
}

export const ALL_ROUTES: readonly Route[] = OPERATION_IDS.map((id) => {
  const { method, path } = splitPath(id)
  return { id, method, pattern: path.replaceAll(/\{(\w+)\}/g, ':$1'), spec: ROUTES[id] }
})

export function registerRoutes(app: Hono, handlers: Handlers): void {
  for (const { id, method, pattern, spec } of ALL_ROUTES) {
    const handle = handlers[id] as AnyHandler
    app.on(method, pattern, async (c) => send(c, await handle(await validateRequest(spec, c), c)))
  }
}

function send(c: Context, { status, body, headers = {} }: Reply): Response {
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  if (body === undefined) return c.body(null, status as StatusCode)
  if (body instanceof ReadableStream) return c.body(body, status as ContentfulStatusCode)
  return c.json(body, status as ContentfulStatusCode)
}

/** Whether a path has the form of a pattern. */
export function fits(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const actual = path.split('/')
  return (
    expected.length === actual.length &&
    expected.every((part, index) => (part.startsWith(':') ? actual[index] !== '' : part === actual[index]))
  )
}

/** Whether a request needs no token: the operation is open to all, or it checks its senders itself. */
export function needsNoToken({ method, path }: { method: string; path: string }): boolean {
  return ALL_ROUTES.some(
    ({ spec, pattern, ...route }) =>
      (spec.auth === 'none' || (spec.auth === 'hook' && route.method === method)) && fits(pattern, path),
  )
}
