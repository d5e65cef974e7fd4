/**
 * Requests over a Unix socket, in the form of `fetch`. It uses node:http, because the first use of the built-in `fetch`
 * takes longer than everything else that a command does before its first request. Every request has a connection of its
 * own, so none is sent over a connection that the daemon is about to close.
 */
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Answer, Fetch } from '../client/request.ts'

/** An import of this module would read all its exports, and one of them loads the built-in `fetch`. */
const { Agent, request } = process.getBuiltinModule('node:http')

/** For TLS only. Without it, Node compiles a long pattern to find out whether the host is an address. */
const NO_TLS = { servername: '' }

/** `findSocket` is called before each request. It throws if there is no socket that can be trusted. */
export function fetchOver(findSocket: () => string): Fetch {
  const agent = new Agent({ keepAlive: false, ...NO_TLS })
  return async (url, { method, headers, body, signal }) => {
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const sending = request(
      {
        agent,
        socketPath: findSocket(),
        method,
        path: `${url.pathname}${url.search}`,
        // A name of every daemon, whatever address it listens on.
        headers: { ...headers, host: 'localhost' },
        ...(signal ? { signal } : {}),
      },
      (incoming) => resolve(toAnswer(incoming, url)),
    )
    sending.on('error', reject)
    if (body === undefined || typeof body === 'string') sending.end(body)
    // A failure is reported by `error`; the daemon may also have responded before it has read everything.
    else pipeline(readableOf(body), sending).catch(reject)
    return promise
  }
}

function toAnswer(incoming: IncomingMessage, url: URL): Answer {
  const status = incoming.statusCode ?? 0
  return {
    status,
    ok: status >= 200 && status < 300,
    url: url.href,
    json: async () => {
      const parts: Buffer[] = []
      for await (const part of incoming) parts.push(part as Buffer)
      return JSON.parse(Buffer.concat(parts).toString('utf8'))
    },
    get body() {
      if (status === 204) {
        incoming.resume()
        return null
      }
      return Readable.toWeb(incoming) as ReadableStream<Uint8Array>
    },
  }
}

type Bytes = ReadableStream<Uint8Array> | Blob | Uint8Array<ArrayBuffer>

function readableOf(bytes: Bytes): Readable {
  if (bytes instanceof Uint8Array) return Readable.from([bytes])
  const stream = bytes instanceof Blob ? bytes.stream() : bytes
  return Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0])
}
