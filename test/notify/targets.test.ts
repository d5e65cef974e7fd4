/** Webhooks that would reach into the machine or its network, directly or by a name that changes what it points to. */
import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from 'vitest'
import { AllowedHosts, ForbiddenAddress, isPublicAddress } from '../../src/engine/notify/addresses.ts'
import { post } from '../../src/engine/notify/post.ts'
import { startReceiver } from './receiver.ts'
import { hook, setStage } from './stage.ts'

describe('an address', () => {
  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::169.254.169.254',
    '2002:7f00:1::',
    '2001:db8::1',
    '2001::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'not an address',
  ])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false))

  it.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '64:ff9b::8.8.8.8'])(
    '%s is',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )

  it.each<[string[], string, string, boolean]>([
    [['10.0.0.0/8'], 'x.example', '10.1.2.3', true],
    [['10.0.0.0/8'], 'x.example', '192.168.0.1', false],
    [['hooks.internal'], 'HOOKS.internal', '192.168.0.1', true],
    [['hooks.internal'], 'other.internal', '192.168.0.1', false],
    [['127.0.0.1'], 'localhost', '127.0.0.1', true],
    [['fd00::/8'], 'x.example', 'fd12::1', true],
    [[], 'localhost', '::1', false],
  ])('with %j allowed, %s at %s: %s', (allow, host, address, allowed) =>
    expect(new AllowedHosts(allow).allows(host, address)).toBe(allowed),
  )
})

describe('a webhook of a request', () => {
  it.each([
    '127.0.0.1',
    'localhost',
    '2130706433',
    '0x7f.1',
    '127.1',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ])('is not sent to %s, and is not tried again', async (host) => {
    const receiver = await startReceiver()
    const stage = await setStage()
    await stage.open([], { allowedHosts: [] })
    const webhook = receiver.url.replace('127.0.0.1', host)
    const tried = await stage.tried(await stage.note({ target: { webhook } }), 1)
    expect(tried).toMatchObject({ tries: 1, lastError: expect.stringContaining('webhooks.allow') })
    expect(tried.state.at).not.toBe('pending')
    expect(receiver.deliveries).toEqual([])
  })

  it('is sent where the configuration allows it', async () => {
    const receiver = await startReceiver()
    const stage = await setStage()
    await stage.open([], { allowedHosts: ['127.0.0.0/8'] })
    const noted = await stage.note({ target: { webhook: receiver.url } })
    expect(await stage.tried(noted, 1)).toMatchObject({ state: { at: 'delivered' } })
  })
})

it('a target of the configuration may name an address of this machine itself', async () => {
  const receiver = await startReceiver()
  const stage = await setStage()
  await stage.open([hook(receiver.url)], { allowedHosts: [] })
  expect(await stage.tried(await stage.note(), 1)).toMatchObject({ state: { at: 'delivered' } })
})

describe('a name', () => {
  const sending = (port: string) => ({
    url: `http://rebind.example:${port}/`,
    headers: {},
    body: '{}',
    signal: AbortSignal.timeout(10_000),
  })
  const answering = (answers: LookupAddress[][]) => {
    let asked = 0
    const resolve = (_: string, __: object, done: (error: null, found: LookupAddress[]) => void) =>
      done(null, answers[asked++] ?? [])
    return { resolve, asked: () => asked }
  }
  const PRIVATE = { address: '127.0.0.1', family: 4 }

  it('that is resolved to a private address is refused before anything is sent', async () => {
    const receiver = await startReceiver()
    const { resolve } = answering([[PRIVATE]])
    const posting = post(sending(new URL(receiver.url).port), { allowed: new AllowedHosts([]), resolve })
    await expect(posting).rejects.toThrow(ForbiddenAddress)
    expect(receiver.deliveries).toEqual([])
  })

  it('is resolved once: what is checked is what is connected to', async () => {
    const receiver = await startReceiver()
    // The second answer would be a public address, as a rebinding server gives in turn.
    const names = answering([[PRIVATE], [{ address: '203.0.113.7', family: 4 }]])
    const allowed = new AllowedHosts(['127.0.0.1'])
    expect(await post(sending(new URL(receiver.url).port), { allowed, resolve: names.resolve })).toBe(204)
    expect(names.asked()).toBe(1)
    expect(receiver.deliveries[0]?.headers.host).toMatch(/^rebind\.example/)
  })

  it('with several addresses is sent to those that are allowed', async () => {
    const receiver = await startReceiver()
    const { resolve } = answering([[{ address: '10.0.0.1', family: 4 }, PRIVATE]])
    const allowed = new AllowedHosts(['127.0.0.1'])
    expect(await post(sending(new URL(receiver.url).port), { allowed, resolve })).toBe(204)
  })
})
