/** Serves the app on a port, and closes it so that no connection is left open. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { RepriseError } from '../contract/errors.ts'
import type { App } from './app.ts'

export interface Listening {
  url: string
  port: number
  close: () => Promise<void>
}

/** How long open requests may take to end when the server closes. */
const GRACE_MS = 2000

export async function listen(app: App, { host, port }: { host: string; port: number }): Promise<Listening> {
  const server = createServer(getRequestListener(app.fetch, { errorHandler: answerBadRequest }))
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
