import { readFileSync } from 'node:fs'
import { expect, expectTypeOf, test } from 'vitest'
import { renderHttpDocs } from '../../scripts/http-docs.ts'
import type { Request } from '../../src/client/request.ts'
import type { Page } from '../../src/contract/http.ts'
import { OPERATION_IDS, PATHS, splitPath } from '../../src/contract/routes/paths.ts'
import type { RouteSpec } from '../../src/contract/routes/route.ts'
import { ROUTES } from '../../src/contract/routes/table.ts'
import type { JsonId, RequestData, RequestInput, ResponseBody } from '../../src/contract/routes/types.ts'
import type { Run } from '../../src/contract/run.ts'

test('each operation has a route, and each route has a path of its own', () => {
  expect(Object.keys(ROUTES).sort()).toEqual([...OPERATION_IDS].sort())
  expect(new Set(Object.values(PATHS)).size).toBe(OPERATION_IDS.length)
})

test.each(OPERATION_IDS)('%s: parameters in the path, bodies and statuses', (id) => {
  const route: RouteSpec = ROUTES[id]
  const { method, path } = splitPath(id)
  const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  expect(Object.keys(route.params?.shape ?? {})).toEqual(placeholders)
  if (method === 'GET' || method === 'DELETE') expect(route.body).toBeUndefined()
  for (const name of Object.keys(route.headers?.shape ?? {})) expect(name).toBe(name.toLowerCase())
  const statuses = Object.keys(route.responses).map(Number)
  expect(statuses.length).toBeGreaterThan(0)
  for (const status of statuses) expect(status).toBeLessThan(300)
})

test('docs/http.md is what `npm run docs:http` writes', () => {
  const written = readFileSync(new URL('../../docs/http.md', import.meta.url), 'utf8')
  expect(written).toBe(renderHttpDocs())
})

test('the types of requests and responses follow from the table', () => {
  expectTypeOf<ResponseBody<'listRuns'>>().toEqualTypeOf<Page<Run>>()
  expectTypeOf<ResponseBody<'deleteConversation'>>().toEqualTypeOf<undefined>()
  expectTypeOf<RequestInput<'getRun'>>().toEqualTypeOf<{ params: { id: string } }>()
  expectTypeOf<RequestData<'getRun'>['params']['id']>().toEqualTypeOf<`run_${string}`>()
  expectTypeOf<'followRunEvents'>().not.toExtend<JsonId>()
  const refused = (request: Request) => {
    // @ts-expect-error: the id is missing
    request('getRun')
    // @ts-expect-error: there is no such operation
    request('getEverything')
    // @ts-expect-error: a prompt is needed
    request('createRun', { body: { workDir: '/tmp' } })
    // @ts-expect-error: there is no such state
    request('listRuns', { query: { state: 'gone' } })
  }
  expect(refused).toBeTypeOf('function')
})
