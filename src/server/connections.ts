/**
 * Limits the open connections of a server, in all and of each address, so that its callers cannot use up the file
 * descriptors that jobs need.
 *
 *   waiting ──(a request has arrived)──→ busy ──(its response has ended)──→ waiting
 *
 * A connection is `waiting` while it has sent no complete request: it was just opened, sends slowly, or is kept for the
 * next request. When there are too many connections, the one that has been waiting longest is closed, so connections
 * that somebody only holds open do not keep others out. If all are busy, the new one is refused.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  total: number
  perAddress: number
}

const REFUSAL = 'HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

export function limitConnections(server: Server, { total, perAddress }: ConnectionLimits): void {
  const open = new Set<Socket>()
  const byAddress = new Map<string, Set<Socket>>()
  /** The oldest first. */
  const waiting = new Set<Socket>()
  const requests = new Map<Socket, number>()

  const makeRoom = (among: ReadonlySet<Socket>, limit: number): boolean => {
    if (among.size < limit) return true
    for (const socket of waiting) {
      if (!among.has(socket)) continue
      forget(socket)
      socket.destroy()
      return true
    }
    return false
  }
  const addressOf = (socket: Socket) => socket.remoteAddress ?? ''
  const of = (address: string) => {
    const known = byAddress.get(address) ?? new Set<Socket>()
    byAddress.set(address, known)
    return known
  }
  const addresses = new WeakMap<Socket, string>()
  const forget = (socket: Socket) => {
    const address = addresses.get(socket) ?? ''
    open.delete(socket)
    waiting.delete(socket)
    requests.delete(socket)
    byAddress.get(address)?.delete(socket)
    if (byAddress.get(address)?.size === 0) byAddress.delete(address)
  }

  server.on('connection', (socket) => {
    const address = addressOf(socket)
    if (!makeRoom(of(address), perAddress) || !makeRoom(open, total)) {
      if (of(address).size === 0) byAddress.delete(address)
      socket.end(REFUSAL, () => socket.destroy())
      return
    }
    // The address is not known any more when the connection is closed.
    addresses.set(socket, address)
    open.add(socket)
    of(address).add(socket)
    waiting.add(socket)
    socket.once('close', () => forget(socket))
  })
  server.on('request', ({ socket }, response) => {
    if (!open.has(socket)) return
    waiting.delete(socket)
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      if (!open.has(socket)) return
      const left = (requests.get(socket) ?? 1) - 1
      requests.set(socket, left)
      if (left === 0) waiting.add(socket)
    })
  })
}
