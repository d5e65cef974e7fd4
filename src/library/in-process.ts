/**
 * The connection to an engine in the same process: the operations of the route table, validated as over HTTP and called
 * directly.
 *
 * open → (`close`: streams end, calls under way finish) → closed; every later call is refused with `closed`.
 */
import { setImmediate } from 'node:timers/promises'
import type { Connection } from '../client/client.ts'
import type { Request, SendOptions } from '../client/request.ts'
import { RepriseError, toRepriseError } from '../contract/errors.ts'
import type { OperationId } from '../contract/routes/paths.ts'
import { ROUTES } from '../contract/routes/table.ts'
import { validateParts } from '../server/base/validate.ts'
import { createHandlers } from '../server/handlers.ts'
import { closedError } from './closed.ts'
import type { Composition } from './compose.ts'
import { InProcessStreams } from './in-process-streams.ts'
import type { EngineLog } from './log.ts'
import { readVersion } from './version.ts'

export interface EngineConnection extends Connection {
  /** With `leaveRunning: false`, whatever runs is cancelled and has ended when this resolves. */
  close: (options: { leaveRunning: boolean }) => Promise<void>
}

type Bytes = NonNullable<SendOptions['bytes']>

type AnyHandler = (request: object, context: unknown) => Promise<{ body: unknown }> | { body: unknown }

export function connectInProcess(parts: Composition, log: EngineLog, startedAt: string): EngineConnection {
  const { engine, changes, home, simulatorUrl } = parts
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false
  const track = <T>(work: () => Promise<T>): Promise<T> => {
    if (isClosed) return Promise.reject(closedError())
    const done = work()
    underWay.add(done)
    void done.catch(ignore).finally(() => underWay.delete(done))
    return done
  }
  const streams = new InProcessStreams(
    {
      ...changes,
      listChanges: (query) => track(() => changes.listChanges(query)),
      listEvents: (...query) => track(() => engine.listEvents(...query)),
      getRun: (id) => track(() => engine.getRun(id)),
      getJob: (id) => track(() => engine.getJob(id)),
      onProgress: engine.onProgress,
    },
    {
      run: (id) => request('getRun', { params: { id } }),
      job: (id) => request('getJob', { params: { id } }),
    },
  )
  const handlers = {
    ...createHandlers(
      {
        engine,
        changes,
        token: '',
        version: readVersion(),
        startedAt,
        pid: process.pid,
        home,
        isHomeInPlace: () => true,
        url: () => '',
        simulatorUrl,
        allowedHosts: [],
        log,
        onShutdown: ignore,
      },
      { heartbeatMs: Number.POSITIVE_INFINITY, signal: streams.ended },
    ),
    // A program needs no secret to send events to a watch of its own.
    receiveEvents: async ({ params, body }: { params: { watch: string }; body: unknown }) => ({
      body: await engine.receiveEvents(params.watch, body),
    }),
  }
  const call = async (id: OperationId, input: unknown, bytes?: Bytes): Promise<unknown> => {
    try {
      const valid = validateParts(ROUTES[id], plain(input ?? {}))
      return (await (handlers[id] as AnyHandler)(valid, bytes ? sending(bytes) : NO_HTTP)).body
    } catch (error) {
      throw toRepriseError(error)
    }
  }
  const request: Request = (id, ...[input, options]) => {
    if (options?.signal?.aborted) return Promise.reject(options.signal.reason)
    return track(() => call(id, input, options?.bytes)) as never
  }
  return {
    request,
    open: (id, ...[input]) => track(() => call(id, input)) as Promise<ReadableStream<Uint8Array> | null>,
    streams: streams.calls,
    close: async (options) => {
      try {
        await engine.close(options)
      } finally {
        await streams.close()
        // A caller that waited for an end asks for the result now, so one call may be followed by another.
        do {
          await setImmediate()
          await Promise.allSettled(underWay)
        } while (underWay.size > 0)
        isClosed = true
        await parts.close()
      }
    },
  }
}

const ignore = () => {}

/** Takes a copy of what is sent, so that the caller may change it afterwards, and refuses what is not JSON. */
function plain(input: unknown): object {
  try {
    return JSON.parse(JSON.stringify(input)) as object
  } catch (cause) {
    throw new RepriseError(
      'bad-request',
      `expected values that JSON can represent: ${(cause as Error).message}`,
      {
        cause,
      },
    )
  }
}

/** The input of an operation that takes a file. */
const sending = (bytes: Bytes): unknown => ({ req: { raw: new Response(bytes) } })

/** Operations that read HTTP headers or bytes have another implementation in process. */
const NO_HTTP: unknown = new Proxy(
  {},
  {
    get: () => {
      throw new RepriseError('internal', 'this operation is only available over HTTP')
    },
  },
)
