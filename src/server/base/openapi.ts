/** The OpenAPI 3.1 document of the API, generated from the route table. */
import { z } from 'zod'
import { ErrorBody } from '../../contract/error-body.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { OPERATION_IDS, type OperationId, splitPath } from '../../contract/routes/paths.ts'
import { errorCodesOf, type ResponseSpec, type RouteSpec, TAGS } from '../../contract/routes/route.ts'
import { ROUTES } from '../../contract/routes/table.ts'
import { SIGNATURE_HEADER } from './hook-auth.ts'
import { HTTP_STATUS } from './http-status.ts'

type Json = Record<string, unknown>

const SECURITY_SCHEMES = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: "The daemon's token, from the file `token` in its home.",
  },
  hookSecret: { type: 'http', scheme: 'bearer', description: 'The `hookSecret` of the watch.' },
  hookPassword: {
    type: 'http',
    scheme: 'basic',
    description: 'The `hookSecret` of the watch as the password; any user name.',
  },
  hookSignature: {
    type: 'apiKey',
    in: 'header',
    name: SIGNATURE_HEADER,
    description: '`sha256=` and the HMAC of the body with the `hookSecret` of the watch, in hexadecimal.',
  },
}

const SECURITY: Readonly<Record<NonNullable<RouteSpec['auth']>, Json[]>> = {
  none: [],
  hook: Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [] })),
}

export function openApiDocument({ version, url }: { version: string; url: string }): Json {
  const schemas = createSchemas()
  const paths: Record<string, Json> = {}
  for (const id of OPERATION_IDS) {
    const { method, path } = splitPath(id)
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(id, ROUTES[id], schemas.of) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Reprise',
      version,
      description:
        "Times are ISO 8601, ids are prefixed (`run_…`, `job_…`). `sessionId` is always the agent's own id of a session; Reprise's id (`ses_…`) is called `session`, or `id` of the session itself. Every failure has the schema `Error`.",
    },
    servers: [{ url, description: 'This daemon' }],
    security: [{ token: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: schemas.components, securitySchemes: SECURITY_SCHEMES },
  }
}

const BYTES = { type: 'string', format: 'binary' }

type SchemaOf = (schema: z.ZodType) => Json

function describeOperation(operationId: OperationId, route: RouteSpec, schemaOf: SchemaOf): Json {
  const { tag, summary, description, auth, body } = route
  const parameters = [
    ...parametersOf('path', route.params, schemaOf),
    ...parametersOf('query', route.query, schemaOf),
    ...parametersOf('header', route.headers, schemaOf),
  ]
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description && { description }),
    ...(auth && { security: SECURITY[auth] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.bodyBytes && {
      requestBody: { required: true, content: { [route.bodyBytes]: { schema: BYTES } } },
    }),
    ...(body && {
      requestBody: {
        required: !route.bodyOptional,
        content: { 'application/json': { schema: schemaOf(body) } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, response]) => [
          status,
          describeResponse(response, schemaOf),
        ]),
      ),
      ...describeErrors(errorCodesOf(route), schemaOf),
    },
  }
}

function parametersOf(place: string, object: z.ZodObject | undefined, schemaOf: SchemaOf): Json[] {
  return Object.entries(object?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = schemaOf(schema as z.ZodType)
    return {
      name: place === 'header' ? headerName(name) : name,
      in: place,
      required: place === 'path' || !(schema as z.ZodType).safeParse(undefined).success,
      ...(description !== undefined && { description }),
      schema: rest,
    }
  })
}

/** As it is usually written: `Idempotency-Key`, `Last-Event-ID`. */
const headerName = (name: string) =>
  name.replaceAll(/(^|-)([a-z])/g, (match) => match.toUpperCase()).replace(/-Id$/, '-ID')

function describeResponse(response: ResponseSpec, schemaOf: SchemaOf): Json {
  const { description } = response
  if ('schema' in response) {
    return { description, content: { 'application/json': { schema: schemaOf(response.schema) } } }
  }
  if ('bytes' in response) return { description, content: { [response.bytes]: { schema: BYTES } } }
  if ('lines' in response) {
    return { description, content: { 'application/x-ndjson': { schema: schemaOf(response.lines) } } }
  }
  if ('events' in response) {
    const item = schemaOf(response.events)
    const content = {
      'text/event-stream': { schema: { type: 'string', contentMediaType: 'text/event-stream' } },
      'application/x-ndjson': { schema: item },
    }
    return { description, content }
  }
  return { description }
}

function describeErrors(codes: readonly ErrorCode[], schemaOf: SchemaOf): Json {
  const failure = (description: string) => ({
    description,
    content: { 'application/json': { schema: schemaOf(ErrorBody) } },
  })
  const byStatus = Object.groupBy(codes, (code) => String(HTTP_STATUS[code]))
  const described = Object.entries(byStatus).map(([status, same = []]) => [
    status,
    {
      ...failure(same.map((code) => `\`${code}\``).join(', ')),
      ...(same.includes('rate-limited') && {
        headers: { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } },
      }),
    },
  ])
  return { ...Object.fromEntries(described), default: failure('Any other failure') }
}

/** All schemas of the table, converted at once, so that named ones are shared: `$ref: #/components/schemas/…`. */
function createSchemas(): { of: SchemaOf; components: Json } {
  const all = [...new Set(Object.values<RouteSpec>(ROUTES).flatMap(schemasOf)), ErrorBody]
  const keyOf = new Map(all.map((schema, index) => [schema, `schema${index}`]))
  const whole = z.toJSONSchema(
    z.object(Object.fromEntries(all.map((schema) => [keyOf.get(schema), schema]))),
    {
      io: 'input',
      override: ({ jsonSchema }) => {
        // The regular expression of a date and time is long and says no more than the format.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
        // Every integer has these limits, unless it has others.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      },
    },
  )
  const { properties = {}, $defs = {} } = JSON.parse(
    JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as { properties?: Record<string, Json>; $defs?: Json }
  return {
    of: (schema) => properties[keyOf.get(schema) ?? ''] ?? {},
    components: Object.fromEntries(Object.entries($defs).sort(([a], [b]) => a.localeCompare(b))),
  }
}

function schemasOf({ params, query, headers, body, responses }: RouteSpec): z.ZodType[] {
  const parameters = [params, query, headers].flatMap((object) => Object.values(object?.shape ?? {}))
  const bodies = Object.values(responses).flatMap((response) =>
    'schema' in response
      ? [response.schema]
      : 'events' in response
        ? [response.events]
        : 'lines' in response
          ? [response.lines]
          : [],
  )
  return [...(parameters as z.ZodType[]), ...(body ? [body] : []), ...bodies]
}
