/**
 * Serves the app on a port and on a Unix socket, and closes it so that no connection is left open. Each has connections
 * of its own to give away: callers of the port cannot keep those of the socket out.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { RepriseError } from '../contract/errors.ts'
import type { App } from './app.ts'
import { type ConnectionLimits, limitConnections } from './connections.ts'

export interface Listening {
  url: string
  port: number
  close: () => Promise<void>
}

/** How long open requests may take to end when the server closes. */
const GRACE_MS = 2000

export interface ServerLimits extends ConnectionLimits {
  /** How long a connection may take to send the headers of a request. */
  headersMs: number
  /** How long it may take to send the whole request. */
  requestMs: number
  /** How long it is kept for the next request. */
  keepAliveMs: number
  /** How long it may stay open without a byte in either direction. Streams send something every 15 seconds. */
  idleMs: number
  /** How often the first two are checked. */
  checkMs: number
}

const LIMITS: ServerLimits = {
  total: 2000,
  perAddress: 1500,
  headersMs: 15_000,
  requestMs: 10 * 60_000,
  keepAliveMs: 10_000,
  idleMs: 15 * 60_000,
  checkMs: 5000,
}
const MAX_HEADERS = 100

function createLimitedServer(app: App, limits: ServerLimits): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
    },
    getRequestListener(app.fetch, { errorHandler: answerBadRequest }),
  )
  server.timeout = limits.idleMs
  server.maxHeadersCount = MAX_HEADERS
  limitConnections(server, limits)
  return server
}

export async function listen(
  app: App,
  { host, port, limits = {} }: { host: string; port: number; limits?: Partial<ServerLimits> },
): Promise<Listening> {
  const server = createLimitedServer(app, { ...LIMITS, ...limits })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(cause, host, port)))
    server.listen(port, host, resolve)
  })
  const { port: taken } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    port: taken,
    close: () => closeServer(server, app),
  }
}

/** Throws if a server could not listen there. */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(cause, host, port)))
    server.listen(port, host, resolve)
  })
  await new Promise((resolve) => server.close(resolve))
}

/** Whoever can reach the socket has the rights of this user, and needs a token all the same. */
export async function listenOnSocket(
  app: App,
  path: string,
  limits: Partial<ServerLimits> = {},
): Promise<{ close: () => Promise<void> }> {
  const server = createLimitedServer(app, { ...LIMITS, ...limits })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return { close: () => closeServer(server, app) }
}

/** For a request that cannot be passed to the app because its Host or its path is malformed. */
function answerBadRequest(error: unknown): Response {
  const known = error instanceof RequestError
  const { message } = known ? error : { message: 'an internal error occurred in the daemon' }
  return Response.json(new RepriseError(known ? 'bad-request' : 'internal', message).toBody(), {
    status: known ? 400 : 500,
  })
}

async function closeServer(server: Server, app: App): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  app.endStreams()
  // A connection is kept open after a response for the next request, and there is no event when it becomes idle.
  const closingIdle = setInterval(() => server.closeIdleConnections(), 5)
  const closingAll = setTimeout(() => server.closeAllConnections(), GRACE_MS)
  await closed
  clearInterval(closingIdle)
  clearTimeout(closingAll)
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const where = `${host}:${port}`
  const details = { host, port, cause: cause.code }
  if (cause.code === 'EADDRINUSE') {
    return new RepriseError('port-taken', `${where} is used by another program`, {
      hint: 'Set server.port or REPRISE_PORT to another port (0 chooses a free one), or stop that program.',
      details,
      cause,
    })
  }
  if (cause.code === 'EACCES') {
    return new RepriseError('port-taken', `this user may not listen on ${where}`, {
      hint: 'Set server.port or REPRISE_PORT to a port above 1023.',
      details,
      cause,
    })
  }
  if (cause.code === 'EADDRNOTAVAIL' || cause.code === 'ENOTFOUND' || cause.code === 'EAI_AGAIN') {
    return new RepriseError('config-invalid', `server.host: ${host} is not an address of this machine`, {
      hint: 'Use 127.0.0.1, or an address that this machine has.',
      details,
      cause,
    })
  }
  return cause
}
