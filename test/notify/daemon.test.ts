/** The outbox of a real daemon, across its death. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { PlannedNotification } from '../../src/core/notify/plan.ts'
import type { NotificationRecord } from '../../src/store/notify/records.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { runInside } from '../cli/inside.ts'
import { planned } from '../store/outbox.ts'
import { until, World } from '../support/world.ts'
import { startReceiver } from './receiver.ts'

let world: World
beforeEach(async () => {
  world = await World.create({ name: 'echo', rules: [{ reply: 'Fine.' }] })
})
afterEach(() => world.close())

async function inStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore(join(world.home, 'reprise.db'), new Date())
  return work(store).finally(() => store.close())
}

const note = (change: Partial<PlannedNotification> = {}) =>
  inStore(async (store) => {
    const item = planned(change)
    await store.enqueueNotifications([item], new Date())
    return (await store.listNotifications(item.subject))[0] as NotificationRecord
  })

const delivered = ({ subject }: NotificationRecord) =>
  until(
    () =>
      inStore(async (store) => {
        const [record] = await store.listNotifications(subject)
        return record?.state.at === 'delivered'
      }),
    'the notification to be marked as delivered',
  )

it('what a killed daemon was sending is sent by the next, under the same id', async () => {
  const receiver = await startReceiver(['hang'])
  await world.configure({ notify: { chat: { webhook: receiver.url, secret: 's3cret' } } })
  const noted = await note()
  await world.startDaemon()
  await receiver.received(1)
  await world.killDaemon()
  await world.startDaemon()
  const deliveries = await receiver.received(2)
  expect(deliveries.map(({ headers }) => headers['x-reprise-delivery'])).toEqual([noted.id, noted.id])
  expect(deliveries[1]?.headers).toMatchObject({
    'user-agent': expect.stringMatching(/^reprise\/\d/),
    'x-reprise-signature': deliveries[0]?.headers['x-reprise-signature'],
  })
  await delivered(noted)
  expect(world.log()).not.toContain('s3cret')
})

it('a test says for each target whether it arrives, and why not', async () => {
  const receiver = await startReceiver([204, 500])
  const ran = join(world.home, 'ran')
  await world.configure({
    notify: {
      chat: { webhook: receiver.url, secret: 's3cret' },
      phone: { command: `printf %s "$REPRISE_MESSAGE" >'${ran}'`, on: ['failed'] },
      broken: { command: 'echo no such pager >&2; exit 7' },
    },
  })
  await world.startDaemon()
  const all = await runInside(['notify', 'test'], { env: world.env, cwd: world.workDir })
  expect(all).toMatchObject({ code: 1, stderr: '' })
  expect(all.stdout.trim().split('\n')).toEqual([
    'chat (webhook): delivered. It is notified about: done, failed, attention.',
    'phone (command): delivered. It is notified about: failed.',
    'broken (command): not delivered: exit code 7: no such pager',
  ])
  const [delivery] = await receiver.received(1)
  expect(delivery?.headers['x-reprise-signature']).toMatch(/^sha256=/)
  expect(JSON.parse(String(delivery?.body))).toMatchObject({
    test: { state: 'test', message: 'A test of notify.chat. Nothing has happened.' },
  })
  expect(readFileSync(ran, 'utf8')).toBe('A test of notify.phone. Nothing has happened.')

  const one = await runInside(['notify', 'test', 'chat', '--json'], { env: world.env, cwd: world.workDir })
  expect(one.code).toBe(1)
  expect(JSON.parse(one.stdout)).toMatchObject([{ target: 'chat', delivered: false, reason: 'answered 500' }])
  const none = await runInside(['notify', 'test', 'pager'], { env: world.env, cwd: world.workDir })
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('configured: chat, phone, broken') })
})

it('a daemon that is told to end does not wait for an endpoint that hangs: it breaks off', async () => {
  const receiver = await startReceiver(['hang'])
  await world.configure({ notify: { chat: { webhook: receiver.url } } })
  const noted = await note()
  await world.startDaemon()
  await receiver.received(1)
  await world.killDaemon('SIGTERM')
  expect(await inStore((store) => store.listNotifications(noted.subject))).toEqual([noted])
})

it('a command that a killed daemon left running is ended before it is run again', async () => {
  const ran = join(world.home, 'ran')
  const lines = () => (existsSync(ran) ? readFileSync(ran, 'utf8').trim().split('\n') : [])
  await world.configure({ notify: { chat: { command: 'echo $$ >>ran; [ -e go ] || sleep 1000' } } })
  const noted = await note()
  await world.startDaemon()
  await until(() => lines().length === 1, 'the command to run')
  await world.killDaemon()
  expect(world.processes()).not.toEqual([])
  await world.configure({ notify: { chat: { command: 'echo $$ >>ran' } } })
  await world.startDaemon()
  await delivered(noted)
  expect(lines()).toHaveLength(2)
  expect(world.processes()).toEqual([])
})
