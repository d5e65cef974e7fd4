/** The files of the dashboard: policy, caching, and links into the page. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServerUnderTest, startServer } from './daemon-double.ts'

let dir: string
let server: ServerUnderTest
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'reprise-page-'))
  mkdirSync(join(dir, 'web', 'assets'), { recursive: true })
  writeFileSync(join(dir, 'secret.txt'), 'secret')
  writeFileSync(join(dir, 'web', 'index.html'), '<p>the page</p>')
  writeFileSync(join(dir, 'web', 'assets', 'main-abc123.js'), 'run()')
  writeFileSync(join(dir, 'web', 'assets', 'main-abc123.js.gz'), gzipSync('run()'))
  server = await startServer({ webDir: join(dir, 'web') })
})
afterAll(async () => {
  await server.close()
  rmSync(dir, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, server.url), { headers })

test.each(['/', '/jobs/job_1', '/runs/anything', '/sign-in'])(
  '%s is the page, without a token',
  async (path) => {
    const response = await get(path, { 'sec-fetch-site': 'cross-site' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('<p>the page</p>')
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('cache-control')).toBe('no-cache')
  },
)

test('files with a hash in their name are kept for good, and sent compressed', async () => {
  const response = await get('/assets/main-abc123.js')
  expect(response.headers.get('cache-control')).toContain('immutable')
  expect(response.headers.get('content-type')).toContain('javascript')
  expect(response.headers.get('content-encoding')).toBe('gzip')
  expect(await response.text()).toBe('run()')
})

test.each(['/assets/missing-abc.js', '/missing.png', '/..%2fsecret.txt', '/assets/..%2f..%2fsecret.txt'])(
  '%s is not served',
  async (path) => {
    const response = await get(path)
    expect(await response.text()).not.toContain('secret')
    expect(path.includes('missing') ? response.status : 404).toBe(404)
  },
)

test('the API is not the page', async () => {
  expect((await get('/api/status')).status).toBe(401)
  expect((await get('/api/nothing')).status).toBe(401)
})
