/** One call to the daemon. Whatever fails is a RepriseError: the server's own, or `daemon-unreachable`. */
import { type ErrorBody, RepriseError } from '../contract/errors.ts'

export interface Endpoint {
  url: string
  token: string
}

export interface Call {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: Readonly<Record<string, string | number | undefined>>
  body?: unknown
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
}

export interface PageOptions {
  limit?: number | undefined
  cursor?: string | undefined
}

/** A request with a key that was seen before is not done again; its first answer is given again. */
export interface KeyOptions {
  idempotencyKey?: string
}

export const keyed = ({ idempotencyKey }: KeyOptions = {}): Pick<Call, 'headers'> =>
  idempotencyKey ? { headers: { 'idempotency-key': idempotencyKey } } : {}

export type Fetch = typeof globalThis.fetch

/** The answer if it is a success, whatever its body. */
export async function send(fetch: Fetch, endpoint: Endpoint, call: Call): Promise<Response> {
  const url = new URL(call.path, endpoint.url)
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  const headers = new Headers({ ...call.headers, authorization: `Bearer ${endpoint.token}` })
  if (call.body !== undefined) headers.set('content-type', 'application/json')
  const response = await reach(fetch, url, {
    method: call.method ?? 'GET',
    headers,
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    ...(call.signal ? { signal: call.signal } : {}),
  })
  if (!response.ok) throw await refusal(response)
  return response
}

/** The answer's body, which came as JSON. */
export async function receive<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T
  } catch (cause) {
    throw unreachable(response.url, cause)
  }
}

async function reach(fetch: Fetch, url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (cause) {
    if (init.signal?.aborted) throw cause
    throw unreachable(url.origin, cause)
  }
}

export function unreachable(where: string, cause?: unknown): RepriseError {
  return new RepriseError('daemon-unreachable', `no daemon answers at ${where}`, {
    hint: '`reprise up` starts it, `reprise doctor` looks for what is wrong.',
    cause,
  })
}

async function refusal(response: Response): Promise<RepriseError> {
  const body = (await response.json().catch(() => null)) as Partial<ErrorBody> | null
  const error = body?.error
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') {
    return new RepriseError(
      'internal',
      `${response.url} answered ${response.status}, and not as Reprise does`,
      {
        hint: 'Something else may be listening there.',
      },
    )
  }
  return new RepriseError(error.code, error.message, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: error.details,
  })
}
