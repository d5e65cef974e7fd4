/** Puts something around the requests of a connection. */
import type { Connection } from '../client/client.ts'

/** A request without the types of its operation. */
export interface AnyRequest {
  id: string
  input: { body?: unknown; params?: unknown } | undefined
  options: unknown
}

export type Around = (
  request: AnyRequest,
  send: (request: AnyRequest) => Promise<unknown>,
) => Promise<unknown>

/** The types of an operation are the same before and after; TypeScript cannot follow that through the list of arguments. */
export function wrapRequests(connection: Connection, around: Around): Connection {
  const wrap =
    (send: (...call: never[]) => Promise<unknown>) => (id: string, input?: never, options?: unknown) =>
      around({ id, input, options }, (request) =>
        send(...([request.id, request.input, request.options] as never[])),
      )
  return {
    ...connection,
    request: wrap(connection.request) as Connection['request'],
    open: wrap(connection.open) as Connection['open'],
  }
}
