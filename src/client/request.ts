/**
 * One request to the daemon. Every failure is a RepriseError: the one that the server sent, or `daemon-unreachable`.
 * Method and path come from the route table; of its schemas only the types are imported, so that a bundle for a
 * browser contains no zod.
 */
import { type ErrorBody, RepriseError } from '../contract/errors.ts'
import { type OperationId, splitPath } from '../contract/routes/paths.ts'
import type { JsonId, RequestInput, ResponseBody, StreamId } from '../contract/routes/types.ts'

export interface Endpoint {
  url: string
  /** Without it, the request has the cookie of a browser, and `pageKey`. */
  token?: string | undefined
  /** Only for the daemon's own page. */
  pageKey?: string | undefined
}

export interface PageOptions {
  limit?: number | undefined
  cursor?: string | undefined
}

/** A request with a key that was used before is not carried out again; it gets the first result. */
export interface KeyOptions {
  idempotencyKey?: string
}

export const keyed = ({ idempotencyKey }: KeyOptions = {}) =>
  idempotencyKey ? { headers: { 'idempotency-key': idempotencyKey } } : {}

/** The part of a response that is used here. */
export type Answer = Pick<Response, 'ok' | 'status' | 'url' | 'json' | 'body'>

/** The part of `fetch` that is used here; the built-in one fits. */
export type Fetch = (
  url: URL,
  init: {
    method: string
    headers: Record<string, string>
    body?: string | Bytes
    duplex?: 'half'
    signal?: AbortSignal
  },
) => Promise<Answer>

/** The content of a file. */
type Bytes = ReadableStream<Uint8Array> | Blob | Uint8Array<ArrayBuffer>

export interface SendOptions {
  accept?: string
  signal?: AbortSignal | undefined
  /** A file as the body. */
  bytes?: Bytes
}

/** The arguments of an operation; they can be omitted if nothing is required. */
export type Input<Id extends OperationId> =
  object extends RequestInput<Id>
    ? [input?: RequestInput<Id>, options?: SendOptions]
    : [input: RequestInput<Id>, options?: SendOptions]

/** Calls an operation and returns the JSON of its response; undefined if that has no body. */
export type Request = <Id extends JsonId>(id: Id, ...input: Input<Id>) => Promise<ResponseBody<Id>>

/** Calls an operation that responds with a stream; null if there is nothing to read. */
export type Open = <Id extends StreamId>(
  id: Id,
  ...input: Input<Id>
) => Promise<ReadableStream<Uint8Array> | null>

/** The parts of a request, without the types of its operation. */
interface Parts {
  params?: Readonly<Record<string, unknown>>
  query?: Readonly<Record<string, unknown>>
  headers?: Readonly<Record<string, unknown>>
  body?: unknown
}

export function createRequest(fetch: Fetch, endpoint: () => Endpoint): { request: Request; open: Open } {
  return {
    request: async (id, ...[input, options]) => {
      const response = await send(fetch, endpoint(), id, input ?? {}, options)
      if (response.status === 204) return undefined as never
      try {
        return (await response.json()) as never
      } catch (cause) {
        throw unreachable(response.url, cause)
      }
    },
    open: async (id, ...[input, options]) =>
      (await send(fetch, endpoint(), id, input ?? {}, options)).body as ReadableStream<Uint8Array> | null,
  }
}

/** Returns the response of a successful request; throws for any other. */
async function send(
  fetch: Fetch,
  endpoint: Endpoint,
  id: OperationId,
  { params = {}, query = {}, headers = {}, body }: Parts,
  { accept, signal, bytes }: SendOptions = {},
): Promise<Answer> {
  const { method, path } = splitPath(id)
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const url = new URL(filled, endpoint.url)
  for (const [name, value] of defined(query)) url.searchParams.set(name, String(value))
  const sent: Record<string, string> = {
    ...(NEEDS_NO_TOKEN.has(id) ? {} : credentials(endpoint)),
    ...(accept && { accept }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(bytes !== undefined && { 'content-type': 'application/gzip' }),
  }
  for (const [name, value] of defined(headers)) sent[name] = String(value)
  const response = await reach(fetch, url, {
    method,
    headers: sent,
    ...(body === undefined ? {} : { body: encode(body) }),
    // A stream can only be sent if the response is not read before its end.
    ...(bytes === undefined ? {} : { body: bytes, duplex: 'half' as const }),
    ...(signal ? { signal } : {}),
  })
  if (!response.ok) throw await refusal(response)
  return response
}

/** JSON turns what is not a number into null, which means "no limit" in places. */
const encode = (body: unknown) =>
  JSON.stringify(body, (name, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new RepriseError('bad-request', `${name} is not a number`)
    return value
  })

/** These are sent without credentials: whoever answers them is not known yet, or they are what gives a browser its own. */
const NEEDS_NO_TOKEN: ReadonlySet<OperationId> = new Set<OperationId>(['getHealth', 'signIn'])

/** As PAGE_KEY_HEADER in contract/access.ts, which imports zod. */
const PAGE_KEY_HEADER = 'x-reprise-page'

const credentials = ({ token, pageKey }: Endpoint): Record<string, string> => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(pageKey === undefined ? {} : { [PAGE_KEY_HEADER]: pageKey }),
})

const defined = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).filter(([, value]) => value !== undefined)

async function reach(fetch: Fetch, url: URL, init: Parameters<Fetch>[1]): Promise<Answer> {
  try {
    // Only what changes nothing is sent again: other requests may have been carried out.
    return await fetch(url, init).catch((error: unknown) => {
      if (init.method === 'GET' && wasClosed(error)) return fetch(url, init)
      throw error
    })
  } catch (cause) {
    if (init.signal?.aborted || cause instanceof RepriseError) throw cause
    throw unreachable(url.origin, cause)
  }
}

/**
 * The connection was closed while the request was sent. That happens to a connection that is used again after a pause:
 * the daemon may have closed it, and a program that was busy has not noticed. Browsers take care of it themselves.
 */
function wasClosed(error: unknown): boolean {
  const { code } = ((error as Error | null)?.cause ?? {}) as { code?: string }
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

export function unreachable(where: string, cause?: unknown): RepriseError {
  return new RepriseError('daemon-unreachable', `no daemon answers at ${where}`, {
    hint: '`reprise up` starts it, `reprise doctor` checks the installation.',
    cause,
  })
}

async function refusal(response: Answer): Promise<RepriseError> {
  const body = (await response.json().catch(() => null)) as Partial<ErrorBody> | null
  const error = body?.error
  if (typeof error?.code !== 'string' || typeof error.message !== 'string') {
    return new RepriseError(
      'internal',
      `${response.url} responded with status ${response.status} in a format that is not Reprise's`,
      {
        hint: 'Another program may be listening there.',
      },
    )
  }
  return new RepriseError(error.code, error.message, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: error.details,
  })
}
