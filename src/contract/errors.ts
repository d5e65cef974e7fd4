/**
 * Every failure that reaches a person or a script has a stable code, says what happened, and where possible what
 * to do next. The server's map from code to HTTP status does not compile until a new code is in it.
 *
 * The client imports this file at run time, so it must not import zod; the schema of the body is in error-body.ts.
 */

export const ERROR_CODES = [
  'bad-request',
  'unauthorized',
  'forbidden-origin',
  'forbidden',
  'not-found',
  'conflict',
  'payload-too-large',
  'rate-limited',
  'config-invalid',
  'home-unusable',
  'home-locked',
  'database-newer',
  'database-unusable',
  'agent-unknown',
  'agent-unavailable',
  'work-dir-unusable',
  'session-unusable',
  'question-unknown',
  'question-answered',
  'run-settled',
  'scenario-invalid',
  'port-taken',
  'daemon-unreachable',
  'closed',
  'usage',
  'internal',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

export interface ErrorBody {
  error: { code: ErrorCode; message: string; hint?: string | undefined; details?: unknown }
}

export class RepriseError extends Error {
  override readonly name = 'RepriseError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: unknown

  constructor(
    code: ErrorCode,
    message: string,
    extra: { hint?: string; details?: unknown; cause?: unknown } = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause })
    this.code = code
    this.hint = extra.hint
    this.details = extra.details
  }

  toBody(): ErrorBody {
    const { code, message, hint, details } = this
    return {
      error: { code, message, ...(hint ? { hint } : {}), ...(details === undefined ? {} : { details }) },
    }
  }
}

export function toRepriseError(error: unknown): RepriseError {
  if (error instanceof RepriseError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new RepriseError('internal', message, { cause: error })
}
