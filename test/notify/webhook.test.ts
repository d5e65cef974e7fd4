/** Webhooks, against a real server: tried until they are taken, under one id, and never in anybody's way. */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { MAX_TRIES } from '../../src/core/notify/retry.ts'
import { findLastingPort } from '../support/lasting-port.ts'
import { type Answer, startReceiver } from './receiver.ts'
import { hook, setStage } from './stage.ts'

const idsOf = (deliveries: readonly { headers: Record<string, unknown> }[]) =>
  deliveries.map(({ headers }) => headers['x-reprise-delivery'])

describe('a webhook', () => {
  it('is a POST of JSON that says what it is about, signed if there is a secret', async () => {
    const receiver = await startReceiver()
    const stage = await setStage()
    const target = hook(`${receiver.url}/hook?key=1`, 'a s3cret')
    await stage.open([
      { ...target, how: { ...target.how, headers: { 'X-Team': 'core' } } as typeof target.how },
    ])
    const noted = await stage.note({ event: 'attention', payload: { state: 'paused', message: 'größer 😀' } })
    expect(await stage.tried(noted, 1)).toMatchObject({
      state: { at: 'delivered' },
      tries: 1,
      lastError: null,
    })
    const [delivery] = receiver.deliveries
    expect(delivery).toMatchObject({
      method: 'POST',
      path: '/hook?key=1',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'reprise/1.2.3',
        'x-reprise-event': 'attention',
        'x-reprise-delivery': noted.id,
        'x-team': 'core',
      },
    })
    const body = delivery?.body ?? Buffer.alloc(0)
    const signature = createHmac('sha256', 'a s3cret').update(body).digest('hex')
    expect(delivery?.headers['x-reprise-signature']).toBe(`sha256=${signature}`)
    expect(JSON.parse(body.toString())).toEqual({
      id: noted.id,
      event: 'attention',
      at: noted.createdAt.toISOString(),
      job: { state: 'paused', message: 'größer 😀' },
    })
  })

  it('without a secret is not signed; a password in the address becomes a header', async () => {
    const receiver = await startReceiver()
    const stage = await setStage()
    await stage.open([])
    const webhook = receiver.url.replace('//', '//me:p%40ss@')
    await stage.tried(await stage.note({ target: { webhook } }), 1)
    const headers = receiver.deliveries[0]?.headers
    expect(headers).not.toHaveProperty('x-reprise-signature')
    expect(headers?.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`)
    const odd = receiver.url.replace('//', '//me:100%@')
    expect(await stage.tried(await stage.note({ target: { webhook: odd } }), 1)).toMatchObject({
      state: { at: 'delivered' },
    })
  })

  it.each<[string, Answer, string]>([
    ['fails', 500, 'answered 500'],
    ['is told that it is not found', 404, 'answered 404'],
    ['is sent elsewhere', 302, 'redirects are not followed'],
    ['gets no answer', 'hang', 'no answer within 0.2 s'],
  ])('that %s is tried again later, under the same id, with the same body', async (_, answer, error) => {
    const receiver = await startReceiver([answer, answer])
    const stage = await setStage()
    await stage.open([hook(receiver.url, 's')], { webhookTimeoutMs: answer === 'hang' ? 200 : 10_000 })
    const noted = await stage.note()
    for (const tries of [1, 2]) {
      expect(await stage.tried(noted, tries)).toMatchObject({
        tries,
        state: { at: 'pending' },
        lastError: expect.stringContaining(error),
      })
      expect(receiver.deliveries, 'before its time').toHaveLength(tries)
      await stage.passTime()
    }
    expect(await stage.tried(noted, 3)).toMatchObject({ tries: 3, state: { at: 'delivered' } })
    expect(idsOf(receiver.deliveries)).toEqual([noted.id, noted.id, noted.id])
    expect(new Set(receiver.deliveries.map(({ body }) => body.toString())).size).toBe(1)
    expect(receiver.deliveries.map(({ path }) => path)).toEqual(['/', '/', '/'])
  })

  it('to a port where nobody listens is tried again, until somebody does', async () => {
    const port = await findLastingPort()
    const stage = await setStage()
    await stage.open([hook(`http://127.0.0.1:${port}`)])
    const noted = await stage.note()
    expect(await stage.tried(noted, 1)).toMatchObject({ lastError: expect.stringContaining('ECONNREFUSED') })
    const back = await startReceiver([], port)
    await stage.passTime()
    expect(await stage.tried(noted, 2)).toMatchObject({ state: { at: 'delivered' } })
    expect(idsOf(back.deliveries)).toEqual([noted.id])
  })

  it('that is answered 410 is given up at once', async () => {
    const receiver = await startReceiver([410])
    const stage = await setStage()
    await stage.open([hook(receiver.url)])
    const noted = await stage.note()
    expect(await stage.tried(noted, 1)).toMatchObject({ tries: 1, state: { at: 'given-up' } })
    expect(stage.logged).toEqual([expect.stringContaining('gave up a notification')])
  })

  it('that is never taken is given up in the end; no secret is logged or stored', async () => {
    const receiver = await startReceiver(Array.from({ length: 20 }, () => 503))
    const stage = await setStage()
    const target = hook(`${receiver.url}/s3cret`, 's3cret')
    await stage.open([
      { ...target, how: { ...target.how, headers: { token: 's3cret' } } as typeof target.how },
    ])
    const noted = await stage.note()
    const own = await stage.note({ target: { webhook: `${receiver.url}/own-s3cret` } })
    for (let tries = 1; tries < MAX_TRIES; tries++) {
      await stage.tried(noted, tries)
      await stage.tried(own, tries)
      await stage.passTime()
    }
    const last = await stage.tried(noted, MAX_TRIES)
    expect(last).toMatchObject({ tries: MAX_TRIES, state: { at: 'given-up' }, lastError: 'answered 503' })
    const lastOwn = await stage.tried(own, MAX_TRIES)
    expect(lastOwn.state.at).toBe('given-up')
    expect(receiver.deliveries).toHaveLength(2 * MAX_TRIES)
    expect(stage.logged.filter((entry) => entry.startsWith('gave up'))).toHaveLength(2)
    expect([...stage.logged, JSON.stringify(last), lastOwn.lastError].join('\n')).not.toContain('s3cret')
  })

  it('whose target is no longer configured is given up; one that has moved is sent where it is now', async () => {
    const receiver = await startReceiver()
    const stage = await setStage()
    const lost = await stage.note({ target: { name: 'gone' } })
    const moved = await stage.note({ target: { name: 'chat' } })
    await stage.open([hook(receiver.url)])
    expect(await stage.tried(lost, 1)).toMatchObject({
      state: { at: 'given-up' },
      lastError: 'notify.gone is no longer configured',
    })
    expect(await stage.tried(moved, 1)).toMatchObject({ state: { at: 'delivered' } })
  })
})

describe('the notifier', () => {
  it('replaced between tries, delivers what the one before left', async () => {
    const receiver = await startReceiver([500])
    const stage = await setStage()
    await stage.open([hook(receiver.url)])
    const noted = await stage.note()
    await stage.tried(noted, 1)
    await stage.open([hook(receiver.url)])
    await stage.passTime()
    expect(await stage.tried(noted, 2)).toMatchObject({ state: { at: 'delivered' } })
    expect(idsOf(receiver.deliveries)).toEqual([noted.id, noted.id])
  })

  it('sends again, under the same id, what was sent but not marked', async () => {
    const receiver = await startReceiver()
    const stage = await setStage()
    const { promise: stuck, resolve } = Promise.withResolvers<void>()
    const { markDelivered } = stage.store
    stage.store.markDelivered = () => {
      resolve()
      return new Promise(() => {})
    }
    await stage.open([hook(receiver.url)])
    const noted = await stage.note()
    await stuck
    stage.store.markDelivered = markDelivered
    await stage.open([hook(receiver.url)])
    expect(await stage.tried(noted, 1)).toMatchObject({ state: { at: 'delivered' } })
    expect(idsOf(receiver.deliveries)).toEqual([noted.id, noted.id])
  })

  it('does not send again what it could only not mark', async () => {
    const receiver = await startReceiver()
    const stage = await setStage()
    const { markDelivered } = stage.store
    let broken = true
    stage.store.markDelivered = async (notification, at) => {
      if (!broken) return markDelivered(notification, at)
      broken = false
      throw new Error('something odd')
    }
    await stage.open([hook(receiver.url)])
    expect(await stage.tried(await stage.note(), 1)).toMatchObject({ state: { at: 'delivered' } })
    expect(receiver.deliveries).toHaveLength(1)
    expect(stage.logged).toEqual([expect.stringContaining('something odd')])
  })

  it('closes at once while an endpoint hangs; what was being sent stays pending, untried', async () => {
    const receiver = await startReceiver(['hang', 'hang'])
    const stage = await setStage()
    await stage.open([hook(receiver.url)])
    const noted = [await stage.note(), await stage.note()]
    await receiver.received(2)
    await stage.close()
    // If it had waited for an answer, that would have been a failed try.
    for (const notification of noted) expect(await stage.tried(notification, 0)).toEqual(notification)
    expect(stage.logged).toEqual([])
    await stage.open([hook(receiver.url)])
    for (const notification of noted) {
      expect(await stage.tried(notification, 1)).toMatchObject({ state: { at: 'delivered' } })
    }
  })

  it('sends a few at a time, and never all of them to one target: the others go on while it hangs', async () => {
    const receiver = await startReceiver(['hang', 'hang', 'hang', 'hang'])
    const other = await startReceiver()
    const stage = await setStage()
    await stage.open([hook(receiver.url), hook(other.url, null, 'other')])
    await Promise.all(Array.from({ length: 6 }, () => stage.note()))
    await receiver.received(3)
    for (const noted of [
      await stage.note({ target: { name: 'other' } }),
      await stage.note({ target: { name: 'other' } }),
    ]) {
      expect(await stage.tried(noted, 1)).toMatchObject({ state: { at: 'delivered' } })
    }
    expect(receiver.deliveries).toHaveLength(3)
  })

  it('keeps the order of what concerns one subject, and lets the others pass', async () => {
    const receiver = await startReceiver([500])
    const stage = await setStage()
    const first = await stage.note({ event: 'attention' })
    await stage.open([hook(receiver.url)])
    await stage.tried(first, 1)
    const second = await stage.note({ subject: first.subject, event: 'done' })
    const other = await stage.note()
    await stage.tried(other, 1)
    await stage.passTime()
    await stage.tried(second, 1)
    expect(idsOf(receiver.deliveries)).toEqual([first.id, other.id, first.id, second.id])
  })

  it('survives a store that fails: what was due is sent when it works again', async () => {
    const receiver = await startReceiver()
    const stage = await setStage()
    const { listDueNotifications } = stage.store
    const { promise: failed, resolve } = Promise.withResolvers<void>()
    let away = true
    stage.store.listDueNotifications = async (now, limit, busy) => {
      if (!away) return listDueNotifications(now, limit, busy)
      resolve()
      throw new Error('database is away')
    }
    const noted = await stage.note()
    const notifier = await stage.open([hook(receiver.url)])
    await failed
    away = false
    notifier.wake()
    expect(await stage.tried(noted, 1)).toMatchObject({ state: { at: 'delivered' } })
  })
})
