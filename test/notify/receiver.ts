/** An HTTP server on loopback that is told how to answer, one answer after the other, and keeps what it was sent. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface Delivery {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A status, or no answer at all. */
export type Answer = number | 'hang'

export interface Receiver {
  url: string
  deliveries: Delivery[]
  /** What to answer next; when that is used up, 204. */
  answers: Answer[]
  /** Resolves when so many have arrived, since it was made. */
  received: (count: number) => Promise<Delivery[]>
  close: () => Promise<void>
}

export async function startReceiver(answers: Answer[] = [], port = 0): Promise<Receiver> {
  const deliveries: Delivery[] = []
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const body = await buffer(request)
    const answer = answers.shift() ?? 204
    deliveries.push({ method, path, headers, body })
    for (const look of waiting) look()
    if (answer === 'hang') return
    response.writeHead(answer, answer === 302 ? { location: '/elsewhere' } : {}).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    if (server.listening) await new Promise((done) => server.close(done))
  }
  onTestFinished(close)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deliveries,
    answers,
    received: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (deliveries.length < count) return
          waiting.delete(look)
          resolve(deliveries)
        }
        waiting.add(look)
        look()
      }),
    close,
  }
}
