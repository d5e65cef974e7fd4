/**
 * Every operation with every scope, and with none: whoever may not call it is refused by the guard. Then other ways to
 * get past it.
 */
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCOPES, type Scope } from '../../src/contract/access.ts'
import { OPERATION_IDS, type OperationId } from '../../src/contract/routes/paths.ts'
import type { Access } from '../../src/engine/access/api.ts'
import { ALL_ROUTES } from '../../src/server/base/all-routes.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

/** Written down here on purpose: who changes the scope of an operation has to say so twice. */
const NEEDED: Partial<Record<OperationId, Scope | 'none' | 'hook'>> = {
  getHealth: 'none',
  signIn: 'none',
  signOut: 'read',
  receiveEvents: 'hook',
  answerRun: 'answer',
  decideApproval: 'answer',
  shutDown: 'admin',
  createSignInLink: 'admin',
  listTokens: 'admin',
  createToken: 'admin',
  revokeToken: 'admin',
  rotateToken: 'admin',
  decideTrust: 'admin',
  revokeTrust: 'admin',
}
const neededFor = (id: OperationId, method: string) => NEEDED[id] ?? (method === 'GET' ? 'read' : 'act')

const access: Access = {
  authenticate: ({ bearer }) => {
    const scope = SCOPES.find((one) => bearer === `${TOKEN}-${one}`)
    if (!scope) return null
    return { tokenId: null, name: scope, scope, kind: 'named', ended: new AbortController().signal }
  },
  record: async () => {},
} as Partial<Access> as Access

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer({ access })
})
afterAll(() => server.close())

const ids: Record<string, string> = { id: 'tok_01ARZ3NDEKTSV4RRFFQ69G5FAV', mid: 'x', watch: 'x' }
const fill = (pattern: string) => pattern.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? 'x')

/** The status of the response; its body is not waited for. */
const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  new Promise<number>((resolve, reject) => {
    const asking = request(new URL(path, server.url), { method, headers, agent: false }, (response) => {
      resolve(response.statusCode ?? 0)
      response.destroy()
    })
    asking.on('error', reject).end()
  })
const bearer = (scope: Scope) => ({ authorization: `Bearer ${TOKEN}-${scope}` })
const REFUSED = [401, 403]

test('the list of operations is complete', () => {
  expect(ALL_ROUTES.map(({ id }) => id)).toEqual(OPERATION_IDS)
})

test.each(ALL_ROUTES.map((route) => [route.id, route] as const))('%s', async (id, { method, pattern }) => {
  const path = fill(pattern)
  const needed = neededFor(id, method)
  if (needed === 'none' || needed === 'hook') {
    if (id === 'getHealth') expect(await ask(method, path)).toBe(200)
    return
  }
  const rank = SCOPES.indexOf(needed)
  for (const [index, scope] of SCOPES.entries()) {
    const status = await ask(method, path, bearer(scope))
    expect([scope, REFUSED.includes(status)]).toEqual([scope, index < rank])
  }
  expect(await ask(method, path)).toBe(401)
  expect(await ask(method, path, { authorization: `Bearer ${TOKEN}` })).toBe(401)
})

test('HEAD needs what GET needs', async () => {
  expect(await ask('HEAD', '/api/tokens', bearer('read'))).toBe(403)
  expect(await ask('HEAD', '/api/tokens')).toBe(401)
  expect(await ask('HEAD', '/api/runs', bearer('read'))).toBe(200)
})

test.each([
  ['a header that names another method', 'GET', '/api/shutdown', { 'x-http-method-override': 'POST' }],
  ['a parameter that names another method', 'GET', '/api/shutdown?_method=POST', {}],
  ['other spellings: encoded', 'POST', '/api/%73hutdown', {}],
  ['encoded twice', 'POST', '/api/%2573hutdown', {}],
  ['a slash at the end', 'POST', '/api/shutdown/', {}],
  ['two slashes', 'POST', '//api/shutdown', {}],
  ['dots', 'POST', '/api/health/../shutdown', {}],
  ['encoded dots', 'POST', '/api/health/%2e%2e/shutdown', {}],
  ['capitals', 'POST', '/API/SHUTDOWN', {}],
  ['a parameter in the path', 'POST', '/api/shutdown;x=1', {}],
  ['a zero', 'POST', '/api/shutdown%00', {}],
  ['an operation without a token as a prefix', 'POST', '/api/health/shutdown', {}],
])('%s does not lead past the guard', async (_, method, path, headers) => {
  const reached: string[] = []
  const guarded = await startServer({ access, onShutdown: () => reached.push('shutdown') })
  for (const more of [{}, bearer('act')]) {
    const status = await new Promise<number>((resolve, reject) => {
      const { hostname, port } = new URL(guarded.url)
      request({ hostname, port, path, method, headers: { ...headers, ...more } }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBeGreaterThanOrEqual(400)
  }
  // What the handler does comes after the response.
  await new Promise((resolve) => setImmediate(resolve))
  expect(reached).toEqual([])
  await guarded.close()
})

test('a request to become a websocket is an ordinary request', async () => {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'x',
    'sec-websocket-version': '13',
  }
  expect(await ask('GET', '/api/changes', headers)).toBe(401)
})

test('forwarded addresses and hosts are not believed', async () => {
  const claims = {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': 'localhost',
    'x-forwarded-proto': 'https',
  }
  expect(await ask('GET', '/api/status', { ...claims, host: 'evil.example' })).toBe(403)
  expect(await ask('GET', '/api/status', { ...claims, origin: 'https://localhost' })).toBe(403)
  expect(await ask('GET', '/api/status', claims)).toBe(401)
})
