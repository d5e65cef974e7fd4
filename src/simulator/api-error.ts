/** Errors as the Anthropic API sends them: a status, headers, and `{type:"error", error:{type, message}}`. */

export interface ApiError {
  status: number
  type: string
  message: string
  headers: Record<string, string>
}

const TYPE_OF_STATUS: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

const MESSAGE_OF_TYPE: Record<string, string> = {
  authentication_error: 'invalid x-api-key',
  permission_error: 'Your API key does not have permission to use the specified resource.',
  rate_limit_error: "This request would exceed your account's rate limit. Please try again later.",
  overloaded_error: 'Overloaded',
  api_error: 'Internal server error',
}

export function errorTypeOf(status: number): string {
  return TYPE_OF_STATUS[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
}

export function errorMessageOf(type: string): string {
  return MESSAGE_OF_TYPE[type] ?? `Simulated ${type}`
}

export function apiError(status: number, message: string, type = errorTypeOf(status)): ApiError {
  return { status, type, message, headers: {} }
}

export function overflowError(tokens: number, limit: number): ApiError {
  return apiError(400, `prompt is too long: ${tokens} tokens > ${limit} maximum`)
}

/** The 429 of an exhausted limit. Reset times are whole Unix seconds, rounded up so that none is early. */
export function rateLimitError(
  limit: { resetsInMs: number; claim: string; message: string },
  now: number,
): ApiError {
  const resetsAt = String(Math.ceil((now + limit.resetsInMs) / 1000))
  const window = limit.claim === 'five_hour' ? '5h' : '7d'
  const isoReset = new Date(Number(resetsAt) * 1000).toISOString().replace('.000Z', 'Z')
  return {
    ...apiError(429, limit.message),
    headers: {
      'retry-after': String(Math.max(0, Math.ceil(limit.resetsInMs / 1000))),
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': resetsAt,
      'anthropic-ratelimit-unified-representative-claim': limit.claim,
      [`anthropic-ratelimit-unified-${window}-status`]: 'rejected',
      [`anthropic-ratelimit-unified-${window}-reset`]: resetsAt,
      [`anthropic-ratelimit-unified-${window}-utilization`]: '1',
      'anthropic-ratelimit-unified-overage-status': 'rejected',
      'anthropic-ratelimit-unified-overage-disabled-reason': 'org_level_disabled',
      'anthropic-ratelimit-requests-limit': '1000',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': isoReset,
    },
  }
}

export function errorBody(error: ApiError, requestId: string): object {
  return { type: 'error', error: { type: error.type, message: error.message }, request_id: requestId }
}
