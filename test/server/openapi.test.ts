import { expect, test } from 'vitest'
import { OPERATION_IDS } from '../../src/contract/routes/paths.ts'
import { TAGS } from '../../src/contract/routes/route.ts'
import { openApiDocument } from '../../src/server/base/openapi.ts'

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  security?: object[]
  parameters?: { name: string; in: string; required: boolean; description?: string; schema: object }[]
  requestBody?: { required: boolean; content: Record<string, { schema: object }> }
  responses: Record<string, { description: string; headers?: object; content?: Record<string, object> }>
}
interface Schema {
  properties: Record<string, { description?: string }>
}

const document = openApiDocument({ version: '1.2.3', url: 'http://127.0.0.1:7717' }) as {
  servers: object[]
  security: object[]
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, object> }
}
const operations = new Map(
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => [operation.operationId, operation]),
)
const get = (id: string) => operations.get(id)!

test('each operation has an id, a known tag and a summary; the document names its server', () => {
  expect([...operations.keys()].sort()).toEqual([...OPERATION_IDS].sort())
  for (const { tags, summary } of operations.values()) {
    expect(Object.keys(TAGS)).toEqual(expect.arrayContaining(tags))
    expect(summary).not.toBe('')
  }
  expect(document.tags.map(({ name }) => name)).toEqual(Object.keys(TAGS))
  expect(document.servers).toMatchObject([{ url: 'http://127.0.0.1:7717' }])
})

test('every reference has a target', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target)
  expect(references.length).toBeGreaterThan(100)
  for (const target of new Set(references)) {
    const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(target!) ?? []
    expect(document.components.schemas, target).toHaveProperty(name!)
  }
})

test('errors are listed by status, with their codes and one schema', () => {
  const { responses } = get('cancelRun')
  expect(responses['404']).toMatchObject({
    description: '`not-found`',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  })
  expect(responses['409']!.description).toBe('`run-settled`')
  expect(responses['401']!.description).toBe('`unauthorized`')
  expect(get('receiveEvents').responses['429']).toHaveProperty('headers.Retry-After')
})

test('the token is needed, but for the health check and for hooks', () => {
  expect(document.security).toEqual([{ token: [] }])
  expect(get('getHealth').security).toEqual([])
  expect(get('getHealth').responses).not.toHaveProperty('401')
  expect(get('receiveEvents').security).toHaveLength(4)
  expect(get('getRun').security).toBeUndefined()
  expect(Object.keys(document.components.securitySchemes)).toEqual([
    'token',
    'hookSecret',
    'hookPassword',
    'hookSignature',
  ])
})

test('parameters say where they are and what they mean', () => {
  expect(get('listJobs').parameters).toMatchObject([
    { name: 'limit', in: 'query', required: false, description: expect.any(String) },
    { name: 'cursor', in: 'query' },
    { name: 'state', in: 'query' },
    { name: 'q', in: 'query' },
    { name: 'sort', in: 'query' },
  ])
  expect(get('createRun').parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header' }])
  expect(get('followJobEvents').parameters).toMatchObject([
    { name: 'id', in: 'path', required: true, schema: { pattern: expect.stringContaining('^job_') } },
    { name: 'after', in: 'query' },
    { name: 'follow', in: 'query' },
    { name: 'Last-Event-ID', in: 'header' },
  ])
  expect(get('retryTurn').requestBody?.required).toBe(false)
})

test('streams are server-sent events or lines of JSON', () => {
  for (const id of ['followRunEvents', 'followJobEvents', 'followChanges']) {
    expect(Object.keys(get(id).responses['200']!.content!)).toEqual([
      'text/event-stream',
      'application/x-ndjson',
    ])
  }
})

test("sessionId is described as the agent's own id", () => {
  const { schemas } = document.components
  for (const name of ['Run', 'RunDetail', 'Job', 'JobDetail', 'Cycle']) {
    expect(schemas[name]!.properties.sessionId!.description, name).toContain("agent's own id")
  }
  expect(schemas.Run!.properties.session!.description).toContain("Reprise's id")
  expect(schemas.CreateRun!.properties.sessionId!.description).toContain("or the agent's own id")
})
