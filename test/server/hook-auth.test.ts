import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { checkHook, type ShownAtHook } from '../../src/server/base/hook-auth.ts'

const SECRET = 'a:secret-of-the-watch'
const TOKEN = 'the-token-of-the-daemon'
const BODY = Buffer.from('{"title": "größer 😀"}')

const check = (change: Partial<ShownAtHook>) =>
  checkHook({ secret: SECRET, token: TOKEN, authorization: null, signature: null, body: BODY, ...change })

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`
const sign = (body: Uint8Array, secret = SECRET) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

describe('an event is accepted with', () => {
  it.each<[string, Partial<ShownAtHook>]>([
    ['the token of the daemon', { authorization: `Bearer ${TOKEN}` }],
    ['it, where the watch has no secret', { authorization: `Bearer ${TOKEN}`, secret: null }],
    ["the watch's secret", { authorization: `Bearer ${SECRET}` }],
    ['it with a scheme written as somebody likes it', { authorization: `bearer  ${SECRET} ` }],
    ['it as a password', { authorization: basic(`alertmanager:${SECRET}`) }],
    ['it as a password without a name', { authorization: basic(`:${SECRET}`) }],
    ['a signature of the body made with it', { signature: sign(BODY) }],
    ['it in capitals', { signature: sign(BODY).toUpperCase() }],
    [
      'a signature beside an authorization for somebody else',
      { signature: sign(BODY), authorization: 'Bearer x' },
    ],
    ['a signature of an empty body', { signature: sign(new Uint8Array()), body: new Uint8Array() }],
  ])('%s', (_, shown) => {
    expect(check(shown)).toBe('ok')
  })
})

describe('an event is refused with', () => {
  it.each<[string, Partial<ShownAtHook>]>([
    ['another token', { authorization: 'Bearer x' }],
    ['the beginning of the secret', { authorization: `Bearer ${SECRET.slice(0, -1)}` }],
    ['more than the secret', { authorization: `Bearer ${SECRET}x` }],
    ['another password', { authorization: basic('alertmanager:x') }],
    ['the secret as a name', { authorization: basic(`${SECRET}:`) }],
    ['a password where there is no secret', { authorization: basic('x:'), secret: null }],
    ['no pair at all', { authorization: 'Basic %%%' }],
    ['the token as a password', { authorization: basic(`x:${TOKEN}`) }],
    ['a signature of another body', { signature: sign(Buffer.from('{}')) }],
    ['a signature made with another secret', { signature: sign(BODY, 'another') }],
    ['a signature made with the token', { signature: sign(BODY, TOKEN) }],
    ['a signature without its kind', { signature: sign(BODY).slice('sha256='.length) }],
    ['a signature made with nothing, where there is no secret', { signature: sign(BODY, ''), secret: null }],
    ['an empty signature', { signature: '' }],
    ['an empty signature where there is no secret', { signature: '', secret: null }],
    ['the secret of a watch that has none any more', { authorization: `Bearer ${SECRET}`, secret: null }],
  ])('%s', (_, shown) => {
    expect(check(shown)).toBe('wrong')
  })

  it.each([null, '', 'Bearer', 'Bearer ', `Digest ${SECRET}`, SECRET])(
    '%j, which is nothing',
    (authorization) => {
      expect(check({ authorization })).toBe('missing')
    },
  )
})
