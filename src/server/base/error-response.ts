/**
 * Whatever goes wrong becomes `{error: {code, message, hint?, details?}}`. What we did not expect is logged in full
 * and answered without its insides.
 */
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { RepriseError } from '../../contract/errors.ts'
import { HTTP_STATUS } from './http-status.ts'

export interface ServerLog {
  error: (fields: object, message: string) => void
}

export function errorResponse(c: Context, error: RepriseError, status?: ContentfulStatusCode): Response {
  const retryAfter = retryAfterOf(error)
  if (retryAfter !== null) c.header('Retry-After', String(retryAfter))
  return c.json(error.toBody(), status ?? HTTP_STATUS[error.code])
}

/** In whole seconds, as the header wants it; never too early. */
function retryAfterOf({ code, details }: RepriseError): number | null {
  if (code !== 'rate-limited' || typeof details !== 'object' || details === null) return null
  const ms = (details as { retryAfterMs?: unknown }).retryAfterMs
  return typeof ms === 'number' && ms >= 0 && Number.isFinite(ms) ? Math.ceil(ms / 1000) : null
}

export function answerError(log: ServerLog) {
  return (thrown: Error, c: Context): Response => {
    if (thrown instanceof HTTPException) return answerHttpException(thrown, c)
    if (thrown instanceof RepriseError && thrown.code !== 'internal') {
      if (HTTP_STATUS[thrown.code] >= 500) logFailure(log, thrown, c)
      return errorResponse(c, thrown)
    }
    logFailure(log, thrown, c)
    const hidden = new RepriseError('internal', 'something went wrong in the daemon', {
      hint: 'Its log (daemon.log in the home) says what.',
    })
    return errorResponse(c, hidden)
  }
}

/** Thrown by the validators before they get to our schemas. */
function answerHttpException(thrown: HTTPException, c: Context): Response {
  if (thrown.status === 415) {
    const got = c.req.header('content-type')
    const error = new RepriseError(
      'bad-request',
      `Content-Type: expected application/json, got ${got ? JSON.stringify(got) : 'none'}`,
      { hint: 'Send the header Content-Type: application/json.' },
    )
    return errorResponse(c, error, 415)
  }
  const message = thrown.status === 400 ? 'body: expected valid JSON' : thrown.message
  return errorResponse(c, new RepriseError('bad-request', message), thrown.status as ContentfulStatusCode)
}

function logFailure(log: ServerLog, thrown: Error, c: Context): void {
  log.error({ err: thrown, method: c.req.method, path: c.req.path }, 'a request failed')
}

/** A path we know under another method is told apart from one we do not know. */
export function answerUnknownRoute(knownRoutes: () => readonly { method: string; path: string }[]) {
  return (c: Context): Response => {
    const { method, path } = c.req
    const allowed = knownRoutes()
      .filter((route) => route.method !== 'ALL' && fits(route.path, path))
      .map((route) => route.method)
    if (allowed.length === 0) {
      return errorResponse(
        c,
        new RepriseError('not-found', `there is nothing at ${path}`, {
          hint: 'GET /api/openapi.json lists what there is.',
        }),
      )
    }
    const methods = [...new Set(allowed)].join(', ')
    c.header('Allow', methods)
    return errorResponse(
      c,
      new RepriseError('bad-request', `${path} does not take ${method}: expected ${methods}`),
      405,
    )
  }
}

function fits(pattern: string, path: string): boolean {
  const expected = pattern.split('/')
  const actual = path.split('/')
  return (
    expected.length === actual.length &&
    expected.every((part, index) => part.startsWith(':') || part === actual[index])
  )
}
