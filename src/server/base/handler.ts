/** What implements an operation: it is given the validated request and returns one of the responses of the table. */
import type { Context } from 'hono'
import type { OperationId } from '../../contract/routes/paths.ts'
import type { RequestData, ResponseData } from '../../contract/routes/types.ts'

type Body = ReadableStream<Uint8Array>

export type Handler<Id extends OperationId> = (
  request: RequestData<Id>,
  /** For what the table does not describe: the accepted media type, the bytes of the body. */
  context: Context,
) => ResponseData<Id, Body> | Promise<ResponseData<Id, Body>>

/** One handler per operation. An operation without one, or one with other types, does not compile. */
export type Handlers = { [Id in OperationId]: Handler<Id> }

export function respond<const Status extends number, Data>(
  status: Status,
  body: Data,
  headers: Readonly<Record<string, string>> = {},
): { status: Status; body: Data; headers: Readonly<Record<string, string>> } {
  return { status, body, headers }
}

/** A response without a body. */
export const respondEmpty = <const Status extends number>(status: Status) => respond(status, undefined)
