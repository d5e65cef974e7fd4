/** The HTTP status of every error code. A new code does not compile until it has its line here. */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { ErrorCode } from '../../contract/errors.ts'

export const HTTP_STATUS: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  'bad-request': 400,
  usage: 400,
  unauthorized: 401,
  'forbidden-origin': 403,
  forbidden: 403,
  'not-found': 404,
  'question-unknown': 404,
  conflict: 409,
  'session-unusable': 409,
  'question-answered': 409,
  'run-settled': 409,
  'payload-too-large': 413,
  'rate-limited': 429,
  'agent-unknown': 422,
  'work-dir-unusable': 422,
  'scenario-invalid': 422,
  internal: 500,
  'config-invalid': 500,
  'database-newer': 500,
  'port-taken': 500,
  'daemon-unreachable': 502,
  'agent-unavailable': 503,
  closed: 503,
  'home-locked': 503,
  'database-unusable': 503,
  'home-unusable': 507,
}
