/** `reprise up`, `open` and `token`: links that sign in, and tokens, with a real daemon. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CreatedToken, SignInLink, Token } from '../../src/contract/access.ts'
import { type Cli, createCli } from './cli.ts'

let cli: Cli
let url: string
beforeAll(async () => {
  cli = createCli({ ANTHROPIC_API_KEY: 'made-up' })
  const up = (await cli.run(['up', '--json'])).json<{ url: string; dashboard: string }>()
  url = up.url
  expect(up.dashboard).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in#[\w-]{43}$/)
})
afterAll(() => cli.close())

const status = async (secret: string, path = '/api/status') =>
  (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${secret}` } })).status
const list = async () => (await cli.inside(['token', '--json'])).json<Token[]>()

test('open prints a link that signs in once, with a name and a scope', async () => {
  const link = (
    await cli.inside(['open', '--name', 'phone', '--scope', 'answer', '--json'])
  ).json<SignInLink>()
  const signIn = () =>
    fetch(`${url}/api/sign-in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: new URL(link.url).hash.slice(1) }),
    })
  expect((await signIn()).status).toBe(200)
  expect((await signIn()).status).toBe(401)
  expect(await list()).toContainEqual(
    expect.objectContaining({ kind: 'page', name: 'phone', scope: 'answer' }),
  )
  // The daemon serves the page that the link opens.
  expect((await fetch(url)).status).toBe(200)
})

test('tokens are created, listed, replaced and revoked', async () => {
  const made = (
    await cli.inside(['token', 'create', 'grafana', '--scope', 'read', '--json'])
  ).json<CreatedToken>()
  expect(await status(made.secret ?? '')).toBe(200)
  expect(await status(made.secret ?? '', '/api/tokens')).toBe(403)
  expect((await cli.inside(['token'])).stdout).toContain('grafana')
  const next = (await cli.inside(['token', 'rotate', made.id, '--json'])).json<CreatedToken>()
  expect(await status(made.secret ?? '')).toBe(401)
  expect(await status(next.secret ?? '')).toBe(200)
  expect((await cli.inside(['token', 'revoke', made.id])).code).toBe(0)
  expect(await status(next.secret ?? '')).toBe(401)
})

test('the token of the command line is replaced in its file, and the command line goes on', async () => {
  const read = () => readFileSync(join(cli.home, 'token'), 'utf8').trim()
  const before = read()
  expect((await cli.inside(['token', 'rotate'])).code).toBe(0)
  expect(read()).not.toBe(before)
  expect(await status(before)).toBe(401)
  expect(await status(read())).toBe(200)
  expect((await list()).filter(({ kind }) => kind === 'command-line')).toHaveLength(1)
})

test('mistakes are explained', async () => {
  expect(await cli.inside(['token', 'create', 'x', '--scope', 'everything'])).toMatchObject({ code: 2 })
  expect(await cli.inside(['token', 'revoke', 'run_1'])).toMatchObject({ code: 2 })
  expect(await cli.inside(['token', 'revoke', 'tok_01ARZ3NDEKTSV4RRFFQ69G5FAV'])).toMatchObject({ code: 1 })
})
