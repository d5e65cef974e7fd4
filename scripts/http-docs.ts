/** docs/http.md: the operations of the HTTP API, rendered from the route table. */
import type { z } from 'zod'
import { OPERATION_IDS, type OperationId, splitPath } from '../src/contract/routes/paths.ts'
import {
  errorCodesOf,
  type ResponseSpec,
  type RouteSpec,
  TAGS,
  type Tag,
} from '../src/contract/routes/route.ts'
import { ROUTES } from '../src/contract/routes/table.ts'

const INTRODUCTION = `# HTTP API

<!-- Generated from src/contract/routes by \`npm run docs:http\`. Do not edit. -->

The daemon listens on \`http://127.0.0.1:7717\` by default. Send \`Authorization: Bearer <token>\`; the token is in the file
\`token\` of the daemon's home (\`~/.reprise\`). The same operations are served on the Unix socket
\`daemon.sock\` there, which the command line uses: \`curl --unix-socket ~/.reprise/daemon.sock http://localhost/api/health\`. Bodies
are JSON. The complete description, with all schemas, is the OpenAPI document at \`/api/openapi.json\`.

- There are limits: 15 seconds for the headers of a request and 10 minutes for all of it, connections (in all and for each
  address), and 1,500 open streams (1,200 for each token; \`rate-limited\` with \`Retry-After\`).
- Errors are \`{"error": {"code", "message", "hint"?, "details"?}}\`. The codes are stable. Besides those listed below, any
  operation can answer with \`bad-request\`, \`unauthorized\`, \`forbidden-origin\`, \`payload-too-large\` and \`internal\`.
- Lists are pages: \`{"items", "nextCursor"}\`. Pass \`nextCursor\` as \`?cursor=\` for the next page.
- Operations with \`Idempotency-Key\` do their work once per key; a repeated request gets the first result.
- Streams are server-sent events, or lines of JSON with \`Accept: application/x-ndjson\`. A reader resumes with
  \`Last-Event-ID\` or \`?after=\`.
- \`sessionId\` is the agent's own id of a session. Reprise's id (\`ses_…\`) is called \`session\`. Requests take either.
`

export function renderHttpDocs(): string {
  const sections = (Object.keys(TAGS) as Tag[]).map(renderSection)
  return [INTRODUCTION, ...sections].join('\n')
}

function renderSection(tag: Tag): string {
  const operations = OPERATION_IDS.filter((id) => ROUTES[id].tag === tag).map(renderOperation)
  return [`## ${tag}\n\n${TAGS[tag]}.\n`, ...operations].join('\n')
}

function renderOperation(id: OperationId): string {
  const route: RouteSpec = ROUTES[id]
  const { method, path } = splitPath(id)
  const facts = [
    route.auth === 'none' && 'No token needed.',
    route.auth === 'hook' && "Takes the secret of the watch in place of the daemon's token.",
    route.query && `Query: ${fieldsOf(route.query)}`,
    route.headers && `Headers: ${fieldsOf(route.headers)}`,
    route.body && `Body${route.bodyOptional ? ' (optional)' : ''}: ${describeBody(route.body)}`,
    route.bodyBytes && `Body: a file (\`${route.bodyBytes}\`)`,
    `Responses: ${Object.entries(route.responses).map(renderResponse).join('; ')}`,
    route.errors && `Errors: ${errorsOf(route).join(', ')}`,
  ].filter((fact) => typeof fact === 'string')
  return [
    `### ${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}\n`,
    `${route.summary}. \`${id}\`\n`,
    ...(route.description ? [`${route.description}\n`] : []),
    `${facts.map((fact) => `- ${fact}`).join('\n')}\n`,
  ].join('\n')
}

/** The errors that are not common to all operations. */
const errorsOf = (route: RouteSpec) =>
  errorCodesOf(route)
    .filter((code) => route.errors?.includes(code))
    .map((code) => `\`${code}\``)

function renderResponse([status, response]: [string, ResponseSpec]): string {
  const kind =
    'events' in response
      ? ' (stream)'
      : 'lines' in response
        ? ' (lines of JSON)'
        : 'bytes' in response
          ? ' (file)'
          : ''
  return `${status}${kind} ${response.description}`
}

/** Describes an object by its fields, anything else by its description. */
function describeBody(schema: z.ZodType): string {
  return 'shape' in schema ? fieldsOf(schema as z.ZodObject) : (schema.description ?? 'any JSON')
}

function fieldsOf(object: z.ZodObject): string {
  return Object.entries(object.shape)
    .map(([name, field]) => `\`${name}${(field as z.ZodType).safeParse(undefined).success ? '?' : ''}\``)
    .join(', ')
}
