/**
 * Validates a request by its route. Query, path and headers come first, so that the body of a wrong request is not
 * read.
 */
import type { Context } from 'hono'
import type { z } from 'zod'
import { RepriseError } from '../../contract/errors.ts'
import type { RouteSpec } from '../../contract/routes/route.ts'
import { badInput, type Target } from './bad-input.ts'

export interface ValidRequest {
  params?: unknown
  query?: unknown
  headers?: unknown
  body?: unknown
}

export async function validateRequest(route: RouteSpec, c: Context): Promise<ValidRequest> {
  const valid: ValidRequest = {}
  if (route.query) valid.query = check('query', route.query, queryOf(c))
  if (route.params) valid.params = check('path', route.params, c.req.param())
  if (route.headers) valid.headers = check('headers', route.headers, c.req.header())
  if (route.body && !route.bodyUnparsed) {
    valid.body = check('body', route.body, await readBody(c, route.bodyOptional === true))
  }
  return valid
}

/** Validates what a program in the same process gives, which needs no parsing. */
export function validateParts(
  route: RouteSpec,
  { params, query, headers, body }: ValidRequest,
): ValidRequest {
  return {
    ...(route.query && { query: check('query', route.query, query ?? {}) }),
    ...(route.params && { params: check('path', route.params, params ?? {}) }),
    ...(route.headers && { headers: check('headers', route.headers, headers ?? {}) }),
    ...(route.body && { body: check('body', route.body, body ?? {}) }),
  }
}

function check(target: Target, schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value)
  if (!result.success) throw badInput(target, result.error.issues)
  return result.data
}

/** A parameter that is repeated is a list, which no schema expects. */
function queryOf(c: Context): Record<string, string | string[] | undefined> {
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  )
}

const JSON_TYPE = /^application\/([a-z-.]+\+)?json(\s*;.*)?$/i

/** A missing body is an empty object: the schema says what is missing in it. */
async function readBody(c: Context, isOptional: boolean): Promise<unknown> {
  const type = c.req.header('content-type')
  const text = await c.req.text()
  // Clients name the type even if they send nothing.
  if (text === '' && (isOptional || type === undefined)) return {}
  if (type === undefined || !JSON_TYPE.test(type)) throw new UnsupportedMediaType(type)
  try {
    return JSON.parse(text)
  } catch {
    throw new RepriseError('bad-request', 'body: expected valid JSON')
  }
}

/** Answered with 415 instead of the status of its code. */
export class UnsupportedMediaType extends RepriseError {
  constructor(type: string | undefined) {
    super(
      'bad-request',
      `Content-Type: expected application/json, got ${type ? JSON.stringify(type) : 'none'}`,
      { hint: 'Send the header Content-Type: application/json.' },
    )
  }
}
