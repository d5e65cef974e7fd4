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
  /** The oldest first. */
  const waiting = new Set<Socket>()
  const requests = new Map<Socket, number>()
  const byAddress = new Map<string, Set<Socket>>()
  /** A socket does not know the address any more when it is closed. */
  const addresses = new WeakMap<Socket, string>()

  const openFrom = (address: string): ReadonlySet<Socket> => byAddress.get(address) ?? new Set()
  const remember = (socket: Socket, address: string) => {
    addresses.set(socket, address)
    const others = byAddress.get(address)
    if (others) others.add(socket)
    else byAddress.set(address, new Set([socket]))
    open.add(socket)
    waiting.add(socket)
  }
  const forget = (socket: Socket) => {
    open.delete(socket)
    waiting.delete(socket)
    requests.delete(socket)
    const address = addresses.get(socket) ?? ''
    const others = byAddress.get(address)
    others?.delete(socket)
    if (others?.size === 0) byAddress.delete(address)
  }
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

  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? ''
    if (!makeRoom(openFrom(address), perAddress) || !makeRoom(open, total)) {
      socket.end(REFUSAL, () => socket.destroy())
      return
    }
    remember(socket, address)
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
