/** The types of requests and responses, derived from the table. Types only: importing them loads no schema. */
import type { z } from 'zod'
import type { OperationId } from './paths.ts'
import type { ROUTES } from './table.ts'

type Routes = typeof ROUTES

type InputPart<Route, Part extends string> = Route extends { [P in Part]: infer Schema extends z.ZodType }
  ? { [P in Part]: z.input<Schema> }
  : unknown
/** Headers are optional; so is a body that may be left out, and a query without required fields. */
type OptionalPart<Route, Part extends string> = Route extends {
  [P in Part]: infer Schema extends z.ZodType
}
  ? { [P in Part]?: z.input<Schema> | undefined }
  : unknown
type QueryPart<Route> = Route extends { query: infer Schema extends z.ZodType }
  ? object extends z.input<Schema>
    ? OptionalPart<Route, 'query'>
    : InputPart<Route, 'query'>
  : unknown
type BodyPart<Route> = Route extends { bodyOptional: true }
  ? OptionalPart<Route, 'body'>
  : InputPart<Route, 'body'>

/** What a caller sends. */
export type RequestInput<Id extends OperationId> = InputPart<Routes[Id], 'params'> &
  QueryPart<Routes[Id]> &
  OptionalPart<Routes[Id], 'headers'> &
  BodyPart<Routes[Id]>

type OutputPart<Route, Part extends string> = Route extends { [P in Part]: infer Schema extends z.ZodType }
  ? { [P in Part]: z.output<Schema> }
  : unknown

/** What a handler is given: the request after validation. */
export type RequestData<Id extends OperationId> = OutputPart<Routes[Id], 'params'> &
  OutputPart<Routes[Id], 'query'> &
  OutputPart<Routes[Id], 'headers'> &
  (Routes[Id] extends { bodyUnparsed: true } ? unknown : OutputPart<Routes[Id], 'body'>)

type Responses<Id extends OperationId> = Routes[Id]['responses']

/** The body of a response: `Stream` stands for one that is a stream. */
type BodyOf<Response, Stream> = Response extends { schema: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : Response extends { events: z.ZodType } | { lines: z.ZodType } | { bytes: string }
    ? Stream
    : undefined

/** What a handler returns: one of the responses of the table. */
export type ResponseData<Id extends OperationId, Stream> = {
  [Status in keyof Responses<Id>]: {
    status: Status
    body: BodyOf<Responses<Id>[Status], Stream>
    headers?: Readonly<Record<string, string>>
  }
}[keyof Responses<Id>]

/** The JSON that a caller gets. */
export type ResponseBody<Id extends OperationId> = BodyOf<Responses<Id>[keyof Responses<Id>], never>

/** The operations that answer with a stream. */
export type StreamId = {
  [Id in OperationId]: Routes[Id]['responses'] extends {
    200: { events: z.ZodType } | { lines: z.ZodType } | { bytes: string }
  }
    ? Id
    : never
}[OperationId]
export type JsonId = Exclude<OperationId, StreamId>
