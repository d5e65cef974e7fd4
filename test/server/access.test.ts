/** Tokens and sign-ins over HTTP, on the real store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AuditEntry, CreatedToken, SignedIn, SignInLink, Token } from '../../src/contract/access.ts'
import type { Page } from '../../src/contract/http.ts'
import { openAccess } from '../../src/engine/access/access.ts'
import type { Access } from '../../src/engine/access/api.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { type ServerUnderTest, startServer, TOKEN } from './daemon-double.ts'

let dir: string
let store: Store
let access: Access
let server: ServerUnderTest
let now = new Date('2026-01-01T00:00:00Z')
let file = TOKEN
const clock = { now: () => now }
const open = () => openAccess({ store, clock, writeCommandLineToken: (secret) => (file = secret) }, file)

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'reprise-access-'))
  store = await openSqliteStore(join(dir, 'a.db'), now, { now: () => now })
})
afterAll(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})
beforeEach(async () => {
  access = await open()
  server = await startServer({ access })
  return () => server.close()
})

const call = (path: string, headers: Record<string, string>, method = 'GET', json?: unknown) =>
  fetch(new URL(path, server.url), {
    method,
    headers: { ...headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  })
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

/** What a browser sends after it was signed in. */
async function signIn(request: object = {}) {
  const { url } = (await (
    await call('/api/sign-in-links', bearer(file), 'POST', request)
  ).json()) as SignInLink
  const response = await call('/api/sign-in', {}, 'POST', { code: url.split('#')[1] })
  const set = response.headers.get('set-cookie') ?? ''
  const { pageKey, token } = (await response.json()) as SignedIn
  const cookie = set.split(';')[0] ?? ''
  return {
    url,
    set,
    token,
    pageKey,
    cookie,
    headers: { cookie, 'x-reprise-page': pageKey, 'sec-fetch-site': 'same-origin' },
  }
}

describe('behind a proxy', () => {
  const PUBLIC = 'https://reprise.example.org'
  const proxied = {
    host: '127.0.0.1',
    origin: PUBLIC,
    'x-forwarded-for': '6.6.6.6, 203.0.113.7',
    'x-forwarded-proto': 'https',
  }
  const signInThrough = async (options: object, headers: Record<string, string>) => {
    const proxy = await startServer({ access, ...options })
    try {
      const made = await proxy.call<SignInLink>('/api/sign-in-links', { json: {}, headers: bearer(file) })
      const response = await fetch(new URL('/api/sign-in', proxy.url), {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ code: made.body.url.split('#')[1] }),
      })
      const [newest] = access.list(null).toSorted((a, b) => b.id.localeCompare(a.id))
      return { link: made.body, response, newest }
    } finally {
      await proxy.close()
    }
  }

  test('its address is accepted, links name it, the cookie is secure, and the caller is recorded', async () => {
    const options = { publicUrl: PUBLIC, trustedProxies: ['127.0.0.1'] }
    const { link, response, newest } = await signInThrough(options, proxied)
    expect(link.publicUrl).toMatch(/^https:\/\/reprise\.example\.org\/sign-in#/)
    expect(response.status).toBe(200)
    expect(response.headers.get('set-cookie')).toMatch(/; Secure/)
    const { items } = await access.listAudit({ limit: 1 })
    expect(items).toMatchObject([{ operation: 'signIn', subject: newest?.id, from: '203.0.113.7' }])
  })

  test('headers that no trusted proxy has sent mean nothing', async () => {
    const { origin: _, ...withoutOrigin } = proxied
    const { response } = await signInThrough({}, withoutOrigin)
    expect(response.headers.get('set-cookie')).not.toMatch(/Secure/)
    expect((await access.listAudit({ limit: 1 })).items).toMatchObject([{ from: '127.0.0.1' }])
    const foreign = await signInThrough({ trustedProxies: ['127.0.0.1'] }, proxied)
    expect(foreign.response.status).toBe(403)
  })
})

describe('a sign-in', () => {
  test('comes from a link that works once, and gives a cookie that scripts cannot read', async () => {
    const { url, set, headers, token } = await signIn({ name: 'laptop' })
    expect(set).toMatch(/HttpOnly/)
    expect(set).toMatch(/SameSite=Strict/)
    expect(token).toMatchObject({ kind: 'page', name: 'laptop', scope: 'admin', current: true })
    expect((await call('/api/runs', headers)).status).toBe(200)
    const again = await call('/api/sign-in', {}, 'POST', { code: url.split('#')[1] })
    expect(again.status).toBe(401)
  })

  test('two that use one link at the same time: one gets in', async () => {
    const { url } = (await (await call('/api/sign-in-links', bearer(file), 'POST', {})).json()) as SignInLink
    const code = url.split('#')[1]
    const both = await Promise.all([1, 2].map(() => call('/api/sign-in', {}, 'POST', { code })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  test('needs cookie and key, and survives a restart of the daemon', async () => {
    const { headers, cookie, pageKey } = await signIn()
    expect((await call('/api/runs', { cookie })).status).toBe(401)
    expect((await call('/api/runs', { 'x-reprise-page': pageKey })).status).toBe(401)
    // Its parts are no bearer tokens.
    expect((await call('/api/runs', bearer(`${cookie.split('=')[1]}.${pageKey}`))).status).toBe(401)
    access = await open()
    const next = await startServer({ access })
    expect((await fetch(new URL('/api/runs', next.url), { headers })).status).toBe(200)
    await next.close()
  })

  test.each([['same-site'], ['cross-site']])('is refused to pages of another origin (%s)', async (site) => {
    const { headers } = await signIn()
    const response = await call('/api/runs', { ...headers, 'sec-fetch-site': site })
    expect(response.status).toBe(403)
  })

  test('is not ended, nor replaced, by a cookie of the same name that another port has set', async () => {
    const { headers, cookie } = await signIn()
    const [name] = cookie.split('=')
    for (const forged of [`${name}=evil; ${cookie}`, `${cookie}; ${name}=evil`]) {
      expect((await call('/api/runs', { ...headers, cookie: forged })).status).toBe(200)
    }
    expect((await call('/api/runs', { ...headers, cookie: `${name}=evil` })).status).toBe(401)
    // What a browser brings along is not taken over: the cookie of a sign-in is always new.
    const { url } = (await (await call('/api/sign-in-links', bearer(file), 'POST', {})).json()) as SignInLink
    const fixed = await call('/api/sign-in', { cookie: `${name}=fixed` }, 'POST', { code: url.split('#')[1] })
    expect(fixed.headers.get('set-cookie')).not.toContain('fixed')
  })

  test('takes a small body only, because anybody can send one', async () => {
    const response = await call('/api/sign-in', {}, 'POST', { code: 'x'.repeat(8192) })
    expect(response.status).toBe(413)
  })

  test('ends when it is revoked or signed out; a link expires', async () => {
    const { headers, token } = await signIn()
    const other = await signIn()
    expect((await call(`/api/tokens/${token.id}`, bearer(file), 'DELETE')).status).toBe(204)
    expect((await call('/api/runs', headers)).status).toBe(401)
    expect((await call('/api/sign-out', other.headers, 'POST')).status).toBe(204)
    expect((await call('/api/runs', other.headers)).status).toBe(401)
    const { url } = (await (await call('/api/sign-in-links', bearer(file), 'POST', {})).json()) as SignInLink
    now = new Date(now.getTime() + 11 * 60_000)
    expect((await call('/api/sign-in', {}, 'POST', { code: url.split('#')[1] })).status).toBe(401)
  })
})

describe('a token', () => {
  const create = async (scope: string, more: object = {}) =>
    (await (
      await call('/api/tokens', bearer(file), 'POST', { name: 'script', scope, ...more })
    ).json()) as CreatedToken

  test.each([
    ['read', 403, 403, 403],
    ['answer', 200, 403, 403],
    ['act', 200, 202, 403],
    ['admin', 200, 202, 200],
  ])('with the scope %s may answer %s, cancel %s, list tokens %s', async (scope, answers, cancels, lists) => {
    const { secret } = await create(scope)
    const auth = bearer(secret ?? '')
    const run = server.engine.addRun()
    expect((await call('/api/runs', auth)).status).toBe(200)
    const answer = { toolUseId: 'toolu_1', decision: 'deny' }
    expect((await call(`/api/runs/${run.id}/tool-result`, auth, 'POST', answer)).status).toBe(answers)
    expect((await call(`/api/runs/${run.id}/cancel`, auth, 'POST')).status).toBe(cancels)
    expect((await call('/api/tokens', auth)).status).toBe(lists)
  })

  test('is stored as a hash, and can be rotated; that of the command line is written to its file', async () => {
    const { id, secret } = await create('act')
    expect(JSON.stringify(await store.listTokens())).not.toContain(secret)
    const rotated = (await (
      await call(`/api/tokens/${id}/rotate`, bearer(file), 'POST')
    ).json()) as CreatedToken
    expect((await call('/api/runs', bearer(secret ?? ''))).status).toBe(401)
    expect((await call('/api/runs', bearer(rotated.secret ?? ''))).status).toBe(200)

    const before = file
    const { items } = (await (await call('/api/tokens', bearer(file))).json()) as Page<Token>
    const own = items.find(({ kind }) => kind === 'command-line')
    expect((await call(`/api/tokens/${own?.id}`, bearer(file), 'DELETE')).status).toBe(409)
    const shown = (await (
      await call(`/api/tokens/${own?.id}/rotate`, bearer(file), 'POST')
    ).json()) as CreatedToken
    expect(shown.secret).toBeNull()
    expect(file).not.toBe(before)
    expect((await call('/api/runs', bearer(before))).status).toBe(401)
    expect((await call('/api/runs', bearer(file))).status).toBe(200)
  })

  test('expires', async () => {
    const { secret } = await create('read', { expiresInMs: 60_000 })
    expect((await call('/api/runs', bearer(secret ?? ''))).status).toBe(200)
    now = new Date(now.getTime() + 61_000)
    expect((await call('/api/runs', bearer(secret ?? ''))).status).toBe(401)
  })
})

test('answers are recorded with who, when and from where; what was refused is not', async () => {
  const { headers } = await signIn({ name: 'phone' })
  const run = server.engine.addRun()
  const answer = { toolUseId: 'toolu_1', decision: 'allow' }
  await call(`/api/runs/${run.id}/tool-result`, headers, 'POST', answer)
  await call(`/api/runs/${run.id}/tool-result`, headers, 'POST', { nonsense: true })
  // The record is written after the response.
  await expect
    .poll(async () => {
      const { items } = (await (
        await call(`/api/audit?subject=${run.id}`, headers)
      ).json()) as Page<AuditEntry>
      return items
    })
    .toMatchObject([
      { who: 'phone', operation: 'answerRun', summary: 'allow', from: '127.0.0.1', at: now.toISOString() },
    ])
})
