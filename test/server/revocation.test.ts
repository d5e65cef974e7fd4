/** A token that ends takes everything with it at once: requests, sign-ins, links, and streams that are open. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CreatedToken, SignedIn, SignInLink, Token } from '../../src/contract/access.ts'
import type { Page } from '../../src/contract/http.ts'
import { TokenId } from '../../src/contract/ids.ts'
import { openAccess } from '../../src/engine/access/access.ts'
import type { Access } from '../../src/engine/access/api.ts'
import { ValidTokens } from '../../src/engine/access/valid-tokens.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

let dir: string
let store: Store
let access: Access
let server: ServerUnderTest
let file: string
const open = () =>
  openAccess(
    { store, clock: { now: () => new Date() }, writeCommandLineToken: (next) => (file = next) },
    file,
  )
beforeEach(async () => {
  file = TOKEN
  dir = mkdtempSync(join(tmpdir(), 'reprise-revocation-'))
  store = await openSqliteStore(join(dir, 'a.db'), new Date(), { now: () => new Date() })
  access = await open()
  server = await startServer({ access })
})
afterEach(async () => {
  await server.close()
  await store.close()
  rmSync(dir, { recursive: true })
})

type Headers = Record<string, string>
const bearer = (secret: string | null): Headers => ({ authorization: `Bearer ${secret}` })
const call = (path: string, headers: Headers, json?: unknown, method = json ? 'POST' : 'GET') =>
  fetch(new URL(path, server.url), {
    method,
    headers: { ...headers, ...(json ? { 'content-type': 'application/json' } : {}) },
    ...(json ? { body: JSON.stringify(json) } : {}),
  })
const statusOf = async (headers: Headers) => (await call('/api/runs', headers)).status
const create = async (scope: string, more: object = {}) =>
  (await (await call('/api/tokens', bearer(file), { name: 'script', scope, ...more })).json()) as CreatedToken
const createLink = async () =>
  new URL(((await (await call('/api/sign-in-links', bearer(file), {})).json()) as SignInLink).url).hash.slice(
    1,
  )
const signIn = async (code: string): Promise<Headers> => {
  const response = await call('/api/sign-in', {}, { code })
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  return { cookie, 'x-reprise-page': ((await response.json()) as SignedIn).pageKey }
}
const ownId = async () => {
  const { items } = (await (await call('/api/tokens', bearer(file))).json()) as Page<Token>
  return items.find(({ kind }) => kind === 'command-line')?.id
}
const rotate = async () => call(`/api/tokens/${await ownId()}/rotate`, bearer(file), undefined, 'POST')

/** Opens a stream of a run that goes on; resolves when the server ends it. */
async function follow(headers: Headers): Promise<{ ended: Promise<void> }> {
  const run = server.engine.addRun()
  const response = await call(`/api/runs/${run.id}/events`, headers)
  expect(response.status).toBe(200)
  const drained = async () => {
    for await (const _ of response.body as ReadableStream<Uint8Array>);
  }
  return { ended: drained() }
}

test('rotating the token of the command line ends all others, at once and for good', async () => {
  const [script, link, unused] = [await create('admin'), await createLink(), await createLink()]
  const page = await signIn(link)
  const before = file
  const streams = await Promise.all([bearer(before), bearer(script.secret), page].map(follow))
  expect((await rotate()).status).toBe(200)
  // Nothing is waited for: the streams end by themselves.
  await Promise.all(streams.map(({ ended }) => ended))
  for (const old of [bearer(before), bearer(script.secret), page]) expect(await statusOf(old)).toBe(401)
  expect((await call('/api/sign-in', {}, { code: unused })).status).toBe(401)
  expect(await statusOf(bearer(file))).toBe(200)

  // Nor do they come back with the next daemon.
  access = await open()
  await server.close()
  server = await startServer({ access })
  for (const old of [bearer(before), bearer(script.secret), page]) expect(await statusOf(old)).toBe(401)
  expect(await statusOf(bearer(file))).toBe(200)
})

test('revoking one ends its streams, and no others', async () => {
  const [gone, kept] = [await create('read'), await create('read')]
  const [ends, stays] = [await follow(bearer(gone.secret)), await follow(bearer(kept.secret))]
  expect((await call(`/api/tokens/${gone.id}`, bearer(file), undefined, 'DELETE')).status).toBe(204)
  await ends.ended
  const other = Symbol('still open')
  expect(await Promise.race([stays.ended, Promise.resolve(other)])).toBe(other)
  expect(await statusOf(bearer(kept.secret))).toBe(200)
})

test('a token that expires ends its streams', () => {
  vi.useFakeTimers()
  const tokens = new ValidTokens({ now: () => new Date() })
  const days = 86_400_000
  const record = {
    id: TokenId.create(new Date()),
    kind: 'named',
    name: 'x',
    scope: 'read',
    hash: 'h',
    createdAt: new Date(),
    lastUsedAt: null,
    lastUsedFrom: null,
    // More than a timer can wait at once.
    expiresAt: new Date(Date.now() + 60 * days),
  } as const
  const { ended } = tokens.keep(record)
  vi.advanceTimersByTime(59 * days)
  expect(ended.aborted).toBe(false)
  vi.advanceTimersByTime(2 * days)
  expect(ended.aborted).toBe(true)
  expect(tokens.list()).toEqual([])
  vi.useRealTimers()
})

test('a thief who is in the middle of making tokens keeps none', async () => {
  const stolen = file
  const owner = await ownId()
  // All at once: the rotation, and tokens and links made with the token that it replaces.
  const making = Array.from({ length: 8 }, (_, index) =>
    index % 2 === 0
      ? call('/api/tokens', bearer(stolen), { name: 'thief', scope: 'admin' })
      : call('/api/sign-in-links', bearer(stolen), {}),
  )
  const rotating = call(`/api/tokens/${owner}/rotate`, bearer(stolen), undefined, 'POST')
  const more = Array.from({ length: 8 }, () =>
    call('/api/tokens', bearer(stolen), { name: 'thief', scope: 'admin' }),
  )
  expect((await rotating).status).toBe(200)
  const made = await Promise.all([...making, ...more].map(async (one) => (await one).json()))
  for (const { secret } of made as { secret?: string }[]) {
    if (secret) expect(await statusOf(bearer(secret))).toBe(401)
  }
  const { items } = (await (await call('/api/tokens', bearer(file))).json()) as Page<Token>
  expect(items.map(({ kind }) => kind)).toEqual(['command-line'])
  expect((await store.listTokens()).map(({ kind }) => kind)).toEqual(['command-line'])
})

test('two rotations at the same time leave one secret', async () => {
  const owner = await ownId()
  const before = file
  const secrets = new Set([before])
  const writing = {
    store,
    clock: { now: () => new Date() },
    writeCommandLineToken: (next: string) => void secrets.add((file = next)),
  }
  access = await openAccess(writing, before)
  await server.close()
  server = await startServer({ access })
  await Promise.all([1, 2].map(() => call(`/api/tokens/${owner}/rotate`, bearer(before), undefined, 'POST')))
  const accepted = []
  for (const secret of secrets) if ((await statusOf(bearer(secret))) === 200) accepted.push(secret)
  expect(accepted).toEqual([file])
})
