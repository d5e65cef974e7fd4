/**
 * Every failure becomes `{error: {code, message, hint?, details?}}`. An unexpected one is logged in full, and the
 * response does not show its details.
 */
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { RepriseError } from '../../contract/errors.ts'
import { methodsAt } from './all-routes.ts'
import { HTTP_STATUS } from './http-status.ts'
import type { Authenticate } from './known-caller.ts'
import { UnsupportedMediaType } from './validate.ts'

export interface ServerLog {
  error: (fields: object, message: string) => void
}

export function errorResponse(c: Context, error: RepriseError, status?: ContentfulStatusCode): Response {
  const retryAfter = retryAfterOf(error)
  if (retryAfter !== null) c.header('Retry-After', String(retryAfter))
  return c.json(error.toBody(), status ?? HTTP_STATUS[error.code])
}

/** In whole seconds, rounded up. */
function retryAfterOf({ code, details }: RepriseError): number | null {
  if (code !== 'rate-limited' || typeof details !== 'object' || details === null) return null
  const ms = (details as { retryAfterMs?: unknown }).retryAfterMs
  return typeof ms === 'number' && ms >= 0 && Number.isFinite(ms) ? Math.ceil(ms / 1000) : null
}

export function answerError(log: ServerLog) {
  return (thrown: Error, c: Context): Response => {
    if (thrown instanceof UnsupportedMediaType) return errorResponse(c, thrown, 415)
    if (thrown instanceof RepriseError && thrown.code !== 'internal') {
      if (HTTP_STATUS[thrown.code] >= 500) logFailure(log, thrown, c)
      return errorResponse(c, thrown)
    }
    logFailure(log, thrown, c)
    const hidden = new RepriseError('internal', 'an internal error occurred in the daemon', {
      hint: 'See daemon.log in its home for details.',
    })
    return errorResponse(c, hidden)
  }
}

function logFailure(log: ServerLog, thrown: Error, c: Context): void {
  log.error({ err: thrown, method: c.req.method, path: c.req.path }, 'a request failed')
}

/** 405 for a path that exists with other methods, 404 for any other path; 401 for a caller who is not known. */
export function answerUnknownRoute(authenticate: Authenticate) {
  return (c: Context): Response => {
    const { method, path } = c.req
    try {
      authenticate(c)
    } catch (error) {
      if (error instanceof RepriseError) return errorResponse(c, error)
      throw error
    }
    const allowed = methodsAt(path)
    if (allowed.length === 0) {
      return errorResponse(
        c,
        new RepriseError('not-found', `${path} does not exist`, {
          hint: 'GET /api/openapi.json lists all operations.',
        }),
      )
    }
    const methods = allowed.join(', ')
    c.header('Allow', methods)
    return errorResponse(
      c,
      new RepriseError('bad-request', `${path} does not support ${method}: expected ${methods}`),
      405,
    )
  }
}
