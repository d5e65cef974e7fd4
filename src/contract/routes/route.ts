/**
 * What the table says about an operation. The server validates requests by it, the OpenAPI document and docs/http.md
 * are generated from it, and the types of handlers and client calls are derived from it (types.ts).
 */
import type { z } from 'zod'
import type { Scope } from '../access.ts'
import type { ErrorCode } from '../errors.ts'
import type { OperationId } from './paths.ts'

export const TAGS = {
  system: 'The daemon, its agents and totals',
  changes: 'What changed, over one connection',
  runs: 'One prompt to one agent, with its events, questions and answers',
  escalation: 'Runs that are linked by tiers, and the approvals that they wait for',
  conversations: 'Chats: messages, turns, edits',
  jobs: 'Prompts to finish unattended, with checkpoints',
  watches: 'Checks on a schedule or by event, and their cycles',
  'follow-ups': 'Prompts that a session is given at a later time',
  sessions: "The agents' sessions",
  access: 'Tokens, sign-ins, trust in directories, and who did what',
} as const satisfies Readonly<Record<string, string>>
export type Tag = keyof typeof TAGS

/** A response with JSON, with a stream of JSON items, or without a body. */
export type ResponseSpec =
  | { description: string; schema: z.ZodType }
  /** Server-sent events whose data are these items, or lines of JSON with `Accept: application/x-ndjson`. */
  | { description: string; events: z.ZodType }
  /** Lines of JSON (NDJSON). */
  | { description: string; lines: z.ZodType }
  /** A file of this media type. */
  | { description: string; bytes: string }
  | { description: string }

export interface RouteSpec {
  tag: Tag
  summary: string
  description?: string
  /** Which credentials are required. Default: the daemon's token. `hook`: the token or the secret of the watch. */
  auth?: 'none' | 'hook'
  /** The scope that the token must have. Default: `read` for GET, `act` for everything else. */
  scope?: Scope
  params?: z.ZodObject
  query?: z.ZodObject
  /** By lower-case names. */
  headers?: z.ZodObject
  body?: z.ZodType
  /** A missing body is `{}`. */
  bodyOptional?: true
  /** The handler reads the body itself: it cannot be parsed before the sender is known. */
  bodyUnparsed?: true
  /** The body is a file of this media type, which the handler reads as a stream. It has no general limit. */
  bodyBytes?: string
  /** `event`: the smaller limit for events that are sent to a watch. `small`: for callers who are not known yet. */
  bodyLimit?: 'event' | 'small'
  /** By status. */
  responses: Readonly<Record<number, ResponseSpec>>
  /** Error codes in addition to those of every operation. */
  errors?: readonly ErrorCode[]
}

export type RouteTable = Readonly<Record<OperationId, RouteSpec>>
/** The operations of one feature. */
export type FeatureRoutes = Readonly<Partial<RouteTable>>

export const json = <T extends z.ZodType>(description: string, schema: T) => ({ description, schema })
export const events = <T extends z.ZodType>(description: string, item: T) => ({ description, events: item })
export const lines = <T extends z.ZodType>(description: string, item: T) => ({ description, lines: item })
export const bytes = (description: string, type: string) => ({ description, bytes: type })
export const empty = (description: string) => ({ description })

/** The error codes of an operation: its own, and those that follow from what it takes. */
export function errorCodesOf(route: RouteSpec): ErrorCode[] {
  const takesInput = route.params ?? route.query ?? route.headers ?? route.body ?? route.bodyBytes
  return [
    ...new Set<ErrorCode>([
      ...(takesInput ? (['bad-request'] as const) : []),
      ...(route.auth === 'none' ? [] : (['unauthorized'] as const)),
      'forbidden-origin',
      ...(route.errors ?? []),
      ...(route.body ? (['payload-too-large'] as const) : []),
      'internal',
    ]),
  ]
}
